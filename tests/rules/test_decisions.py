"""What the sources leave open: the decisions X and the defaults I."""

from typing import Any

import pytest

from citadels_env import AMERICAN, EDITIONS, FRENCH, GERMAN, Game, Rules
from rules_helpers import RANK, at, end_turn, finish, play, reach, seat, texts, using


def table(*first: dict[str, Any], rules: Rules = GERMAN, **position: Any) -> Game:
    """Just before the first seat is called: the seats given, and players with nothing who hold other late ranks."""
    ranks = {RANK[name] for player in first for name in player["roles"]}
    free = [name for name in rules.roles if RANK[name] not in (*ranks, 4)]
    rest = [seat(name) for name in free[len(free) - (4 - len(first)) :]]
    position.setdefault("called", RANK[first[0]["roles"][0]] - 1)
    return at(rules, players=[*first, *rest], **position)


def leftovers(rules: Rules, *without: str) -> list[str]:
    """All cards of the deck except one copy of each of `without`."""
    cards = [name for name, copies in rules.deck.items() for _ in range(copies)]
    for name in without:
        cards.remove(name)
    return cards


# --- between the documents ---------------------------------------------


@pytest.mark.rule("X-1", "D-FACTORY", "D-POOR", "O-factory_cost", "O-poor_house_cost")
@pytest.mark.parametrize(("edition", "factory", "poor_house"), [("german", 5, 0), ("french", 5, 0), ("american", 6, 5)])
def test_factory_and_poor_house_cost_what_the_edition_says(edition: str, factory: int, poor_house: int) -> None:
    rules = EDITIONS[edition].with_(add_districts=("Factory", "Poor House"))
    g = table(seat("King", gold=4, hand=["Factory", "Poor House"]), rules=rules)
    play(g, "take gold")
    assert play(g.clone(), "build Factory").gold[0] == 6 - factory
    assert play(g, "build Poor House").gold[0] == 6 - poor_house


@pytest.mark.rule("X-2", "O-emperor_tribute", "R70", "R71", "I17", "R-EMP-4")
@pytest.mark.parametrize("edition", EDITIONS)
def test_tribute_is_the_receivers_choice_and_unknown_to_the_germans(edition: str) -> None:
    rules = using(EDITIONS[edition], "Emperor")
    g = table(seat("Emperor"), seat("Bishop", gold=1, hand=["Docks", "Keep"]), rules=rules, crown=3)
    play(g, "crown player 1")
    assert g.crown == 1
    if edition == "german":
        assert (g.actor, g.question, g.gold[:2]) == (0, "PLAY", (0, 1))
        return
    assert (g.actor, g.question, set(g.legal())) == (1, "TRIBUTE", {"give gold", "give Docks", "give Keep"})
    assert play(g.clone(), "give gold").gold[:2] == (1, 0)
    card = play(g, "give Docks")
    assert (card.gold[:2], card.hand(0), card.hand(1)) == ((0, 1), ["Docks"], ["Keep"])


@pytest.mark.rule("X-2", "R72")
def test_who_has_neither_gold_nor_cards_gives_nothing() -> None:
    g = table(seat("Emperor"), seat("Bishop"), rules=using(FRENCH, "Emperor"), crown=3)
    play(g, "crown player 1")
    assert (g.actor, g.question, g.crown) == (0, "PLAY", 1)
    h = table(seat("Emperor"), seat("Bishop", gold=3), rules=using(FRENCH, "Emperor"), crown=3)
    play(h, "crown player 1")  # gold is all there is to give
    assert (h.actor, h.question, h.gold[:2]) == (0, "PLAY", (1, 2))


@pytest.mark.rule("X-3", "O-quarry", "R126", "R128", "D-QUARRY")
def test_the_quarry_differs_by_edition() -> None:
    def after_action(edition: Rules, city: list[str], hand: list[str], gold: int) -> Game:
        rules = edition.with_(add_districts=("Quarry",))
        return play(table(seat("Architect", gold=gold, hand=hand, city=city), rules=rules), "take gold")

    g = after_action(GERMAN, ["Quarry", "Palace"], ["Palace", "Palace"], 5)
    assert play(g, "build Palace").gold[0] == 7 - 4  # the second Palace
    assert play(g, "build Palace").gold[0] == 3 - 3  # the third
    g = after_action(FRENCH, ["Quarry", "Manor", "Castle"], ["Manor", "Castle", "Manor"], 20)
    play(g, "build Manor", "build Castle", "build Manor")
    assert (g.gold[0], len(g.city(0))) == (22 - 3 - 4 - 3, 6)
    g = after_action(AMERICAN, ["Quarry", "Manor", "Castle"], ["Manor", "Castle", "Manor"], 20)
    assert {"build Manor", "build Castle"} <= set(g.legal())
    play(g, "build Manor")
    assert texts(g, "build") == []  # one extra copy stands


@pytest.mark.rule("X-4", "D-BALL", "O-ballroom", "R131", "I18")
def test_thanks_are_a_decision_in_every_edition() -> None:
    for edition in EDITIONS.values():
        g = ballroom(edition)
        assert (g.actor, g.question, set(g.legal())) == (0, "THANK", {"thank", "stay silent"})
        assert play(g.clone(), "thank").turn_role == "King"
        silent = play(g, "stay silent")
        assert (silent.turn_role, silent.gold[0]) == ("Bishop", 0)


def ballroom(edition: Rules = GERMAN, caller: dict[str, Any] | None = None, **options: Any) -> Game:
    """The crown is with the Ballroom's owner, the Bishop, when the King is called."""
    rules = edition.with_(add_districts=("Ballroom",), **options)
    return table(caller or seat("King"), seat("Bishop", city=["Ballroom"]), rules=rules, crown=1)


@pytest.mark.rule("X-4", "O-ballroom", "O-ballroom_forget_probability", "I18")
@pytest.mark.parametrize(("mode", "probability", "turn"), [("auto", 1.0, "King"), ("forget", 0.0, "King"), ("forget", 1.0, "Bishop")])
def test_thanks_can_be_given_always_or_be_forgotten(mode: str, probability: float, turn: str) -> None:
    g = ballroom(ballroom=mode, ballroom_forget_probability=probability)
    assert (g.question, g.turn_role) == ("PLAY", turn)


@pytest.mark.rule("X-4", "O-ballroom_forget_probability", "I18")
def test_thanks_are_forgotten_as_often_as_the_probability_says() -> None:
    rules = GERMAN.with_(add_districts=("Ballroom",), ballroom="forget", ballroom_forget_probability=0.25)
    players = [seat("King"), seat("Bishop", city=["Ballroom"]), seat("Merchant"), seat("Architect")]
    forgotten = sum(at(rules, players=players, seed=seed, crown=1, called=3).turn_role == "Bishop" for seed in range(400))
    assert 60 <= forgotten <= 140  # 100 expected


@pytest.mark.rule("X-5", "R1", "R2")
@pytest.mark.parametrize("edition", EDITIONS)
def test_assassin_and_thief_may_forgo_naming_and_the_witch_may_not(edition: str) -> None:
    for role in ("Assassin", "Thief"):
        g = play(table(seat(role), rules=EDITIONS[edition]), "take gold")
        assert "end turn" in g.legal()
    g = play(table(seat("Witch"), rules=using(EDITIONS[edition], "Witch")), "take gold")
    assert g.question == "NAME"
    assert all(text.startswith("name ") for text in g.legal())


@pytest.mark.rule("X-8", "P-5", "R-WIZ-1")
def test_the_wizard_may_take_nothing() -> None:
    g = table(seat("Wizard", gold=5), seat("King", hand=["Manor", "Docks"]), rules=using(GERMAN, "Wizard"))
    play(g, "look at player 1", "done")
    assert (g.question, g.hand(0), g.hand(1)) == ("PLAY", [], ["Docks", "Manor"])
    assert texts(g, "look") == []


@pytest.mark.rule("X-8", "P-8", "D-LIGHT", "R118")
def test_the_builder_of_the_lighthouse_may_take_nothing() -> None:
    g = table(seat("King", gold=3, hand=["Lighthouse"]), rules=GERMAN.with_(add_districts=("Lighthouse",)))
    play(g, "take gold", "build Lighthouse")
    deck = g.deck_size
    play(g, "done")
    assert (g.question, g.hand(0), g.deck_size, g.city(0)) == ("PLAY", [], deck, ["Lighthouse"])


@pytest.mark.rule("X-9", "R115", "D-POWDER", "O-discard_to")
@pytest.mark.parametrize("pile", ["discard_pile", "deck_bottom"])
def test_powder_tower_and_victim_go_where_unkept_cards_go(pile: str) -> None:
    rules = GERMAN.with_(add_districts=("Powder Tower",), discard_to=pile)
    g = table(seat("King", city=["Powder Tower"]), seat("Bishop", city=["Temple"]), rules=rules)
    deck = g.deck_size
    play(g, "blow up Temple of player 1")
    assert (g.city(0), g.city(1)) == ([], [])
    assert (g.deck_size, g.discard_size) == ((deck, 2) if pile == "discard_pile" else (deck + 2, 0))


def diplomat(own: list[str], other: list[str], gold: int = 9, rules: Rules = GERMAN, **more: Any) -> Game:
    """The Diplomat against one city."""
    return at(using(rules, "Diplomat"), players=[seat("Diplomat", gold=gold, city=own), seat("King", city=other, **more), seat("Thief"), seat("Magician")], called=7)


def exchanges(g: Game) -> set[tuple[str, str]]:
    """Every exchange that the Diplomat can make: what he gives, what he gets."""
    found = set()
    for offer in texts(g, "offer "):
        given = offer.removeprefix("offer ")
        h = play(g.clone(), offer)
        if h.question == "EXCHANGE":
            found |= {(given, text.removeprefix("exchange for ").rsplit(" of player", 1)[0]) for text in texts(h, "exchange")}
        else:  # the only possible answer
            found |= {(given, next(name for name in h.city(0) if h.city(0).count(name) > g.city(0).count(name)))}
    return found


@pytest.mark.rule("X-10", "R95", "R-DIP-6", "O-diplomat_no_duplicates")
def test_an_exchange_is_refused_only_if_an_exchanged_district_would_stand_twice() -> None:
    own, other = ["Manor", "Docks"], ["Manor", "Temple"]
    assert exchanges(diplomat(own, other)) == {("Manor", "Manor"), ("Manor", "Temple"), ("Docks", "Manor"), ("Docks", "Temple")} - {("Manor", "Manor")} | (
        {("Manor", "Manor")} if ("Manor", "Manor") in exchanges_of_equals() else set()
    )


def exchanges_of_equals() -> set[tuple[str, str]]:
    return {("Manor", "Manor")}
