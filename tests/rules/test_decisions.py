"""What the sources leave open: the decisions X and the defaults I."""

from typing import Any

import pytest

from citadels_env import AMERICAN, EDITIONS, FRENCH, GERMAN, Game, Rules
from rules_helpers import at, end_turn, finish, leftovers, play, reach, seat, table, texts, using

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
    assert not {"build Manor", "build Castle"} & set(g.legal())  # one extra copy stands


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
    return at(
        using(rules, "Diplomat"),
        players=[seat("Diplomat", gold=gold, city=own), seat("King", city=other, **more), seat("Thief"), seat("Magician")],
        called=7,
    )


def exchanges(g: Game) -> set[tuple[str, str]]:
    """Every exchange that the Diplomat can make: what he gives, what he gets."""
    found = set()
    for offer in texts(g, "offer "):
        given = offer.removeprefix("offer ")
        h = play(g.clone(), offer)
        if h.question == "EXCHANGE":
            found |= {(given, text.removeprefix("exchange for ").rsplit(" of player", 1)[0]) for text in texts(h, "exchange")}
        else:  # the only possible answer
            found |= {(given, next((name for name in h.city(0) if h.city(0).count(name) > g.city(0).count(name)), given))}
    return found


@pytest.mark.rule("X-10", "R95", "R-DIP-6", "O-diplomat_no_duplicates")
def test_an_exchange_is_refused_only_if_an_exchanged_district_would_stand_twice() -> None:
    own, other = ["Manor", "Docks"], ["Manor", "Temple"]
    free = {(a, b) for a in own for b in other}
    assert exchanges(diplomat(own, other)) == free
    assert exchanges(diplomat(own, other, rules=GERMAN.with_(diplomat_no_duplicates=True))) == {("Manor", "Manor"), ("Docks", "Temple")}


@pytest.mark.rule("X-10", "R-DIP-6")
def test_other_duplicates_do_not_hinder_an_exchange() -> None:
    rules = GERMAN.with_(diplomat_no_duplicates=True)
    assert exchanges(diplomat(["Tavern", "Tavern", "Docks"], ["Temple", "Market", "Market"], rules=rules)) == {
        ("Tavern", "Temple"), ("Docks", "Temple"), ("Tavern", "Market"), ("Docks", "Market"),
    }  # fmt: skip


@pytest.mark.rule("X-10", "R-DIP-6")
@pytest.mark.parametrize(("own", "other"), [(["Manor", "Manor"], ["Manor"]), (["Manor"], ["Manor", "Manor"])])
def test_an_exchange_of_equals_is_refused_where_the_district_would_still_stand_twice(own: list[str], other: list[str]) -> None:
    rules = GERMAN.with_(diplomat_no_duplicates=True)
    assert exchanges(diplomat([*own, "Docks"], [*other, "Temple"], rules=rules)) == {("Docks", "Temple")}


@pytest.mark.rule("X-10", "R101", "D-QUARRY")
def test_the_quarry_does_not_allow_a_doubling_exchange() -> None:
    rules = FRENCH.with_(add_districts=("Quarry",))
    g = diplomat(["Quarry", "Manor", "Docks"], ["Manor"], rules=rules)
    assert ("Docks", "Manor") not in exchanges(g)
    assert ("Manor", "Manor") in exchanges(g)


@pytest.mark.rule("X-11")
def test_gold_never_runs_out() -> None:
    g = table(seat("King", gold=60, city=["Manor", "Castle"]), seat("Bishop", gold=60))
    play(g, "take gold", "income")
    assert g.gold[:2] == (64, 60)


# --- when a role answers --------------------------------------------------------


@pytest.mark.rule("X-12", "R-THIEF", "R7")
def test_robbery_comes_before_thanks() -> None:
    rules = GERMAN.with_(add_districts=("Ballroom",))
    players = [seat("King", gold=5), seat("Bishop", city=["Ballroom"]), seat("Thief"), seat("Warlord")]
    g = at(rules, players=players, crown=1, called=2, robbed="King")
    assert (g.question, g.actor, g.gold) == ("THANK", 0, (0, 0, 5, 0))
    assert g.revealed(0) == ["King"]
    play(g, "stay silent")
    assert g.gold == (0, 0, 5, 0)


@pytest.mark.rule("X-12", "R-TAX-2")
def test_late_tax_comes_before_thanks() -> None:
    rules = using(GERMAN, "Tax Collector", add_districts=("Ballroom",))
    g = table(seat("Assassin", gold=3, hand=["Tavern"]), seat("Tax Collector"), seat("Bishop", city=["Ballroom"]), rules=rules, crown=2)
    play(g, "thank", "take gold", "build Tavern", "end turn")
    assert (g.question, g.actor, g.gold[:2]) == ("THANK", 1, (3, 1))
    play(g, "stay silent")
    assert (g.turn_role, g.gold[:2]) == ("Bishop", (3, 1))


@pytest.mark.rule("X-12", "D-BALL")
def test_thanks_come_before_the_crown_moves() -> None:
    g = ballroom()
    assert (g.question, g.crown) == ("THANK", 1)
    play(g, "thank")
    assert (g.question, g.crown) == ("PLAY", 0)


@pytest.mark.rule("X-12", "D-THRONE", "R-EMP-4")
def test_the_throne_rooms_gold_comes_before_the_tribute() -> None:
    rules = using(FRENCH, "Emperor", add_districts=("Throne Room",))
    g = table(seat("Emperor"), seat("Bishop", city=["Throne Room"]), rules=rules, crown=3)
    play(g, "crown player 1")  # who has nothing but the gold just received
    assert (g.question, g.gold[:2], g.crown) == ("PLAY", (1, 0), 1)


@pytest.mark.rule("X-12", "R-THIEF", "O-merchant_bonus_timing")
def test_gifts_at_the_start_of_a_turn_are_safe_from_the_thief() -> None:
    players = [seat("Merchant", gold=5), seat("Bishop"), seat("Thief"), seat("Warlord")]
    g = at(GERMAN.with_(merchant_bonus_timing="start"), players=players, called=5, robbed="Merchant")
    assert (g.question, g.gold) == ("PLAY", (1, 0, 5, 0))


@pytest.mark.rule("X-12", "R-QUEEN-1")
def test_the_queens_gold_comes_at_her_reveal() -> None:
    players = [seat("King"), seat("Queen"), seat("Bishop"), seat("Thief"), seat("Warlord")]
    g = at(using(GERMAN, "Queen", players=5), players=players, called=3)
    reach(g, "Queen")
    assert (g.question, g.gold[1], g.revealed(1)) == ("PLAY", 3, ["Queen"])
    assert {"take gold", "draw cards"} == set(g.legal())


@pytest.mark.rule("X-12", "R-THIEF", "R-QUEEN-1")
def test_the_thief_does_not_get_the_queens_gold() -> None:
    players = [seat("King"), seat("Queen", gold=4), seat("Bishop"), seat("Thief"), seat("Warlord")]
    g = at(using(GERMAN, "Queen", players=5), players=players, called=8, robbed="Queen")
    assert (g.gold[1], g.gold[3]) == (3, 4)


@pytest.mark.rule("X-12", "D-BALL")
def test_who_does_not_thank_gets_no_gift_at_the_start() -> None:
    rules = GERMAN.with_(merchant_bonus_timing="start")
    g = ballroom(rules, caller=seat("Merchant"))
    play(g, "stay silent")
    assert g.gold[0] == 0


# --- when a turn ends -------------------------------------------------------------


@pytest.mark.rule("X-13", "R-TAX-3", "R55", "R56", "R57", "R58", "R59", "R-ALC-1")
def test_tax_then_poor_house_then_refund() -> None:
    rules = using(GERMAN, "Tax Collector", "Alchemist", add_districts=("Poor House",))
    players = [seat("Alchemist", gold=2, hand=["Manor"], city=["Poor House"]), seat("Tax Collector"), seat("Bishop"), seat("Warlord")]
    g = at(rules, players=players, called=5)
    play(g, "take gold", "build Manor")
    assert g.gold[:2] == (1, 0)
    play(g, "end turn")
    assert g.gold[:2] == (0 + 1 + 3, 1)  # the tax took the last coin; then the Poor House's coin, then the refund


@pytest.mark.rule("X-13", "D-PARK", "R-ALC-1")
def test_the_park_comes_after_the_refund() -> None:
    rules = using(GERMAN, "Alchemist", add_districts=("Park",))
    g = table(seat("Alchemist", gold=2, hand=["Manor"], city=["Park"]), rules=rules)
    play(g, "take gold", "build Manor", "end turn")
    assert (g.question, g.actor, g.gold[0]) == ("PARK", 0, 4)


@pytest.mark.rule("X-13", "R-QUEEN-2", "R106", "D-PARK")
def test_the_queens_gold_for_a_murdered_king_comes_after_the_park() -> None:
    rules = using(GERMAN, "Queen", players=5, add_districts=("Park",))
    players = [seat("King"), seat("Queen", city=["Park"]), seat("Bishop"), seat("Assassin"), seat("Warlord")]
    g = at(rules, players=players, called=8, murdered="King")
    assert g.gold[1] == 0
    play(g, "take gold", "end turn")
    assert (g.question, g.actor, g.gold[1]) == ("PARK", 1, 2)
    play(g, "yes")
    assert g.gold[1] == 5


# --- silence in the Ballroom --------------------------------------------------------


@pytest.mark.rule("X-14", "D-BALL", "R131")
def test_a_silent_king_gets_the_crown_when_the_round_ends() -> None:
    g = play(ballroom(caller=seat("King", city=["Manor"])), "stay silent")
    assert (g.crown, g.turn_role, g.gold[0], g.revealed(0)) == (1, "Bishop", 0, ["King"])
    finish(g)
    assert (g.crown, g.actor, g.question) == (0, 0, "DRAFT")


@pytest.mark.rule("X-14", "O-ballroom", "D-BALL")
def test_a_king_who_forgets_his_thanks_is_an_heir_too() -> None:
    g = ballroom(ballroom="forget", ballroom_forget_probability=1.0)
    assert (g.turn_role, g.crown) == ("Bishop", 1)
    assert finish(g).crown == 0


@pytest.mark.rule("X-14", "D-BALL")
def test_a_silent_emperor_leaves_the_crown() -> None:
    g = ballroom(using(GERMAN, "Emperor"), caller=seat("Emperor"))
    play(g, "stay silent")
    assert (g.crown, g.turn_role) == (1, "Bishop")
    finish(g)
    assert g.crown == 1


@pytest.mark.rule("X-14", "D-BALL", "D-POOR", "D-PARK")
def test_nothing_is_done_as_a_silent_turn_ends() -> None:
    rules = GERMAN.with_(add_districts=("Ballroom", "Poor House", "Park"))
    g = table(seat("King", city=["Poor House", "Park"]), seat("Bishop", city=["Ballroom"]), rules=rules, crown=1)
    play(g, "stay silent")
    assert (g.turn_role, g.gold[0], g.hand(0)) == ("Bishop", 0, [])


@pytest.mark.rule("X-14", "R-BISHOP", "D-BALL")
def test_a_silent_bishop_still_guards_his_city() -> None:
    rules = GERMAN.with_(add_districts=("Ballroom",))
    for answer in ("thank", "stay silent"):
        players = [seat("Bishop", city=["Tavern"]), seat("Merchant", city=["Ballroom"]), seat("Thief", city=["Temple"]), seat("Warlord")]
        g = at(rules, players=players, crown=1, called=4)
        play(g, answer)
        play(reach(g, "Warlord"), "thank")
        assert texts(g, "destroy") == ["destroy Temple of player 2"]


@pytest.mark.rule("X-14", "R-TAX-1", "D-BALL")
def test_a_silent_tax_collector_is_paid_later_taxes() -> None:
    rules = using(GERMAN, "Tax Collector", add_districts=("Ballroom",))
    g = table(seat("Tax Collector"), seat("Bishop", gold=3, hand=["Tavern"], city=["Ballroom"]), rules=rules, crown=1)
    play(g, "stay silent")
    assert (g.turn_role, g.actor, g.question) == ("Bishop", 1, "PLAY")
    play(g, "take gold", "build Tavern", "end turn")
    assert g.gold[:2] == (1, 3)


@pytest.mark.rule("X-14", "D-BALL")
def test_the_crowns_holder_thanks_nobody() -> None:
    rules = GERMAN.with_(add_districts=("Ballroom",))
    g = table(seat("Bishop", city=["Ballroom"]), rules=rules, crown=0)
    assert (g.actor, g.question) == (0, "PLAY")
    h = table(seat("Bishop"), seat("Merchant", city=["Ballroom"]), rules=rules, crown=0)
    assert (h.actor, h.question) == (0, "PLAY")  # the crown is not with the Ballroom's owner


@pytest.mark.rule("X-14", "I19", "D-BALL", "R-WITCH-2")
def test_the_witch_thanks_and_the_bewitched_player_does_not() -> None:
    rules = using(GERMAN, "Witch", add_districts=("Ballroom",))
    g = table(seat("Witch"), seat("Thief"), seat("Bishop", city=["Ballroom"]), rules=rules, crown=2)
    assert (g.actor, g.question) == (0, "THANK")
    silent = play(g.clone(), "stay silent")
    assert (silent.actor, silent.question, silent.turn_role) == (1, "THANK", "Thief")
    play(g, "thank", "take gold", "name Thief")
    assert (g.actor, g.question) == (1, "ACTION")
    play(g, "take gold")
    assert (g.actor, g.question) == (0, "PLAY")


@pytest.mark.rule("X-14", "D-BALL", "D-HOSPITAL")
def test_the_owner_of_the_hospital_thanks() -> None:
    rules = GERMAN.with_(add_districts=("Ballroom", "Hospital"))
    bishop = seat("Bishop", city=["Ballroom"])
    g = table(seat("Thief", city=["Hospital"]), bishop, seat("Assassin"), rules=rules, crown=1, murdered="Thief")
    assert (g.actor, g.question) == (0, "THANK")
    assert play(g.clone(), "stay silent").turn_role == "Bishop"
    assert (play(g, "thank").actor, g.question) == (0, "ACTION")


# --- what works in a turn that is only an action ------------------------------------

TOOLS = ["Laboratory", "Smithy", "Observatory", "Library", "Museum", "Powder Tower"]


def only_action(kind: str) -> Game:
    """Seat 0, with all the tools, is asked for the action alone."""
    rules = using(GERMAN, *(() if kind == "hospital" else ("Witch",)), add_districts=("Museum", "Powder Tower", "Hospital"))
    tools: dict[str, Any] = {"gold": 9, "hand": ["Tavern"], "city": TOOLS + (["Hospital"] if kind == "hospital" else [])}
    deck = ["Temple", "Market", "Docks"]
    if kind == "witch":
        return table(seat("Witch", **tools), seat("King", city=["Manor"]), rules=rules, deck_top=deck)
    if kind == "bewitched":
        g = table(seat("Thief", **tools), seat("Witch"), seat("King", city=["Manor"]), rules=rules, called=0, deck_top=deck)
        return play(g, "take gold", "name Thief")
    return table(seat("Thief", **tools), seat("Assassin"), seat("King", city=["Manor"]), rules=rules, murdered="Thief", deck_top=deck)


@pytest.mark.rule("X-15", "I9", "R48", "R116", "D-HOSPITAL", "R-WITCH-1", "R-WITCH-2", "R31", "R33", "P-1")
@pytest.mark.parametrize("kind", ["witch", "bewitched", "hospital"])
def test_only_library_and_observatory_work_in_a_turn_that_is_only_an_action(kind: str) -> None:
    g = only_action(kind)
    assert (g.actor, g.question, set(g.legal())) == (0, "ACTION", {"take gold", "draw cards"})
    rich = play(g.clone(), "take gold")
    assert rich.gold[0] == 11
    play(g, "draw cards")
    assert (g.question, set(g.legal())) == ("KEEP", {"keep Temple", "keep Market", "keep Docks"})
    play(g, "keep Temple", "keep Docks")
    assert g.hand(0) == ["Docks", "Tavern", "Temple"]
    for h in (rich, g):
        assert (h.actor, h.question) != (0, "PLAY")
        assert (h.actor, h.question) != (0, "ACTION")


# --- X-16 to X-30 ---------------------------------------------------------------------------


@pytest.mark.rule("X-16", "O-witch_must_name", "I20")
def test_a_witch_who_declines_plays_an_ordinary_turn_without_a_power() -> None:
    rules = using(GERMAN, "Witch", witch_must_name=False)
    g = table(seat("Witch", gold=5, hand=["Docks", "Tavern"], city=["Manor", "Temple", "Laboratory"]), seat("King"), rules=rules)
    play(g, "take gold", "done")
    assert (g.actor, g.question) == (0, "PLAY")
    assert set(g.legal()) == {"build Docks", "build Tavern", "laboratory Docks", "laboratory Tavern", "end turn"}
    play(g, "build Docks")
    assert texts(g, "build") == []
    play(g, "end turn")
    assert g.turn_role == "King"


@pytest.mark.rule("X-17", "R-EMP-2", "O-emperor_may_return_crown")
def test_two_players_without_return_leave_the_emperors_crown_alone() -> None:
    rules = using(GERMAN, "Emperor", players=2, emperor_may_return_crown=False, emperor_tribute="payer_chooses")
    g = at(rules, players=[seat("Emperor", "Magician"), seat("Thief", "Bishop", gold=5)], crown=1, called=3)
    assert (g.actor, g.question, g.crown, g.gold) == (0, "PLAY", 1, (0, 5))


@pytest.mark.rule("X-17", "R69", "P-9")
def test_two_players_an_emperor_with_the_crown_gives_it_to_the_other() -> None:
    rules = using(GERMAN, "Emperor", players=2, emperor_may_return_crown=False)
    g = at(rules, players=[seat("Emperor", "Magician"), seat("Thief", "Bishop")], crown=0, called=3)
    assert (g.actor, g.question, g.crown) == (0, "PLAY", 1)  # one possible answer, so nothing is asked


@pytest.mark.rule("X-17", "R68")
def test_three_players_always_have_a_receiver_for_the_crown() -> None:
    rules = using(GERMAN, "Emperor", players=3, emperor_may_return_crown=False)
    g = at(rules, players=[seat("Emperor", "Magician"), seat("Thief", "Bishop"), seat("Assassin", "Warlord")], crown=1, called=3)
    assert (g.actor, g.question, g.crown) == (0, "PLAY", 2)  # one possible receiver, so nothing is asked


@pytest.mark.rule("X-18", "O-bewitched_emperor_crown")
def test_the_option_for_a_bewitched_emperor_changes_nothing_for_a_free_one() -> None:
    for by in ("witch", "emperor_player"):
        rules = using(GERMAN, "Witch", "Emperor", bewitched_emperor_crown=by)
        g = table(seat("Emperor"), seat("Bishop"), rules=rules, crown=3)
        assert (g.actor, g.question) == (0, "CROWN")
        assert play(g, "crown player 1").question == "PLAY"
        h = table(seat("Witch"), seat("Bishop"), rules=rules, crown=3)
        play(h, "take gold", "name Bishop")
        assert (h.actor, h.question) == (1, "ACTION")  # only an Emperor passes the crown


@pytest.mark.rule("X-17", "R68", "R-EMP-4")
def test_two_players_with_return_may_owe_tribute_for_the_crown_they_had() -> None:
    rules = using(GERMAN, "Emperor", players=2, emperor_tribute="payer_chooses")
    g = at(rules, players=[seat("Emperor", "Magician"), seat("Thief", "Bishop", gold=5, hand=["Docks"])], crown=1, called=3)
    assert (g.actor, g.question, g.crown, set(g.legal())) == (1, "TRIBUTE", 1, {"give gold", "give Docks"})


@pytest.mark.rule("X-18", "R37", "R38", "R-WITCH-5", "O-bewitched_emperor_crown")
def test_the_witch_passes_the_bewitched_emperors_crown_and_gets_the_tribute() -> None:
    rules = using(FRENCH, "Witch", "Emperor")
    g = table(seat("Witch"), seat("Emperor"), seat("Bishop", gold=4), rules=rules, crown=3)
    play(g, "take gold", "name Emperor")
    assert (g.actor, g.question, g.crown) == (1, "ACTION", 3)
    play(g, "take gold")
    assert (g.actor, g.question) == (0, "CROWN")
    assert set(g.legal()) == {"crown player 1", "crown player 2"}  # neither herself nor back to seat 3
    play(g, "crown player 2")
    assert (g.crown, g.actor, g.question, g.gold) == (2, 0, "PLAY", (3, 2, 3, 0))


def queen(seats: list[str], rules: Rules = GERMAN, **position: Any) -> int:
    """The gold of the Queen at her first question; the roles sit in this order."""
    rules = using(rules, *seats, players=len(seats))
    g = at(rules, players=[seat(role) for role in seats], called=8, **position)
    assert g.turn_role == "Queen"
    return g.gold[seats.index("Queen")]


@pytest.mark.rule("X-19", "R-QUEEN-1", "O-queen_bound_to")
@pytest.mark.parametrize(("place", "gold"), [(1, 3), (2, 0), (3, 0), (4, 3)])
def test_the_queen_must_sit_beside_the_king_in_the_circle(place: int, gold: int) -> None:
    seats = ["King", "Bishop", "Thief", "Magician"]
    seats.insert(place, "Queen")
    assert queen(seats) == gold


@pytest.mark.rule("X-19", "R-QUEEN-4", "R108", "O-queen_bound_to")
@pytest.mark.parametrize(("crown", "gold"), [(0, 0), (1, 3), (2, 0), (3, 3), (4, 0)])
@pytest.mark.filterwarnings("ignore:the designer")
def test_with_the_emperor_among_the_roles_the_queen_is_bound_to_the_crown(crown: int, gold: int) -> None:
    assert queen(["Emperor", "Bishop", "Queen", "Thief", "Magician"], crown=crown) == gold


@pytest.mark.rule("X-19", "R-QUEEN-4")
@pytest.mark.filterwarnings("ignore:the designer")
def test_that_holds_also_if_nobody_holds_the_emperor() -> None:
    rules = using(GERMAN, "Emperor", "Queen", players=5)
    players = [seat(role) for role in ("Warlord", "Bishop", "Queen", "Thief", "Magician")]
    assert [at(rules, players=players, called=8, crown=crown).gold[2] for crown in range(5)] == [0, 3, 0, 3, 0]


@pytest.mark.rule("X-19", "R-QUEEN-2", "D-HOSPITAL")
def test_a_murdered_king_shown_by_his_hospital_pays_the_queen_at_once() -> None:
    rules = using(GERMAN, "Queen", players=5, add_districts=("Hospital",))
    for city, at_once in ((["Hospital"], 3), ([], 0)):
        players = [seat("King", city=city), seat("Queen"), seat("Bishop"), seat("Assassin"), seat("Warlord")]
        g = at(rules, players=players, called=3, murdered="King")
        reach(g, "Queen")
        assert g.gold[1] == at_once
        end_turn(play(g, "take gold"))
        assert g.gold[1] == 5


def warlord(city: list[str], gold: int = 20, rules: Rules = GERMAN) -> Game:
    """The Warlord against one city."""
    rules = rules.with_(add_districts=("Great Wall", "Poor House", "Factory", "Quarry", "Hospital"))
    return at(rules, players=[seat("Warlord", gold=gold), seat("King", city=city), seat("Thief"), seat("Magician")], called=7)


@pytest.mark.rule("X-20", "R21", "D-WALL", "R-WARLORD")
@pytest.mark.parametrize(
    ("district", "plain", "walled"), [("Poor House", 0, 1), ("Tavern", 0, 1), ("Market", 1, 2), ("Palace", 4, 5), ("University", 5, 6)]
)
def test_with_a_great_wall_the_warlord_pays_one_more(district: str, plain: int, walled: int) -> None:
    for city, price in (([district], plain), ([district, "Great Wall"], walled)):
        g = play(warlord(city), f"destroy {district} of player 1")
        assert g.gold[0] == 20 - price
        if price:
            assert f"destroy {district} of player 1" not in warlord(city, price - 1).legal()
        assert f"destroy {district} of player 1" in warlord(city, price).legal()


@pytest.mark.rule("X-20", "R90", "R-DIP-3", "D-WALL")
@pytest.mark.parametrize(("wanted", "price"), [("Tavern", 0), ("Market", 0), ("Docks", 1), ("Castle", 2)])
def test_with_a_great_wall_the_wanted_district_counts_one_more_and_its_owner_gets_it(wanted: str, price: int) -> None:
    rules = GERMAN.with_(add_districts=("Great Wall",))
    g = diplomat(["Manor"], [wanted, "Great Wall"], rules=rules)
    play(g, "offer Manor", f"exchange for {wanted} of player 1")
    assert g.gold[:2] == (9 - price, price)
    own = diplomat(["Manor", "Great Wall"], [wanted, "Prison"], rules=rules)
    play(own, "offer Manor", f"exchange for {wanted} of player 1")
    assert own.gold[:2] == (9 - max(0, price - 1), max(0, price - 1))


def price(district: str, city: list[str], **options: Any) -> int:
    """What the King pays for `district` with these districts in his city."""
    rules = GERMAN.with_(add_districts=("Factory", "Quarry", "Poor House", "Park"), **options)
    g = play(table(seat("King", gold=20, hand=[district], city=city), rules=rules), "take gold", f"build {district}")
    return 22 - g.gold[0]


@pytest.mark.rule("X-21", "D-FACTORY", "D-QUARRY", "R126", "R123", "R124")
def test_the_factory_lowers_prices_before_the_quarry_does() -> None:
    assert price("Keep", []) == 3
    assert price("Keep", ["Factory"]) == 2
    assert price("Keep", ["Quarry", "Keep"]) == 2
    assert price("Keep", ["Factory", "Quarry", "Keep"]) == 1
    assert price("Factory", []) == 5  # it does not lower its own price
    assert price("Tavern", ["Factory"]) == 1  # only uniques
    assert price("Park", ["Factory", "Quarry"]) == 5


@pytest.mark.rule("X-21", "D-QUARRY")
def test_the_quarrys_lower_bound_makes_nothing_dearer() -> None:
    assert price("Tavern", ["Quarry", "Tavern", "Tavern"]) == 1
    assert price("Market", ["Quarry", "Market", "Market"]) == 1
    assert price("Poor House", ["Quarry"]) == 0
    assert price("Poor House", ["Quarry", "Factory"]) == 0


@pytest.mark.rule("X-22", "R24", "D-GRAVEYARD", "R45")
def test_whoever_destroys_as_the_warlord_is_the_warlord_for_the_graveyard() -> None:
    rules = using(GERMAN, "Witch")

    def destroyed(owner: int) -> Game:
        cities: list[list[str]] = [[], [], ["Tavern"], []]
        cities[owner] = ["Graveyard", *cities[owner]]
        players = [seat(role, gold=2, city=city) for role, city in zip(("Witch", "Warlord", "King", "Thief"), cities, strict=True)]
        g = at(rules, players=players, called=7, bewitched="Warlord")
        assert (g.actor, g.question) == (1, "ACTION")
        return play(g, "take gold", "destroy Tavern of player 2")

    assert (destroyed(0).actor, destroyed(0).question) == (0, "PLAY")  # the Witch destroys and cannot save
    assert (destroyed(1).actor, destroyed(1).question) == (1, "GRAVEYARD")  # the bewitched player does not destroy
    assert (destroyed(3).actor, destroyed(3).question) == (3, "GRAVEYARD")


@pytest.mark.rule("X-22", "R23", "R24", "R25", "D-GRAVEYARD")
def test_the_graveyard_saves_any_district_but_itself_and_not_for_the_warlord() -> None:
    players = [
        seat("Warlord", gold=9),
        seat("King", gold=1, city=["Graveyard", "Tavern"]),
        seat("Thief", city=["Temple"]),
        seat("Magician"),
    ]
    g = at(players=players, called=7)
    for text in ("destroy Tavern of player 1", "destroy Temple of player 2"):
        assert (play(g.clone(), text).actor, play(g.clone(), text).question) == (1, "GRAVEYARD")
    assert play(g.clone(), "destroy Graveyard of player 1").actor == 0
    own = at(
        players=[seat("Warlord", gold=9, city=["Graveyard"]), seat("King", city=["Tavern"]), seat("Thief"), seat("Magician")], called=7
    )
    assert play(own, "destroy Tavern of player 1").actor == 0
    poor = at(players=[seat("Warlord", gold=9), seat("King", city=["Graveyard", "Tavern"]), seat("Thief"), seat("Magician")], called=7)
    assert play(poor, "destroy Tavern of player 1").actor == 0  # no gold to pay with


@pytest.mark.rule("X-25", "I34")
def test_an_empty_deck_is_made_anew_from_the_discards() -> None:
    rest = leftovers(GERMAN, "Temple", "Docks", "Keep", "Market")
    players = [seat("King"), seat("Bishop", hand=rest), seat("Merchant"), seat("Architect")]
    g = at(players=players, deck_top=["Temple"], discard=["Docks", "Keep", "Market"], called=3)
    assert (g.deck_size, g.discard_size) == (1, 3)
    play(g, "draw cards")
    assert (g.question, g.deck_size, g.discard_size) == ("KEEP", 2, 0)
    assert "keep Temple" in g.legal()
    play(g, "keep Temple")
    assert (g.deck_size, g.discard_size) == (2, 1)


@pytest.mark.rule("X-25", "I34")
def test_with_too_few_cards_fewer_are_drawn() -> None:
    rest = leftovers(GERMAN, "Temple", "Library", "Observatory")
    players = [seat("King", city=["Observatory", "Library"]), seat("Bishop", hand=rest), seat("Merchant"), seat("Architect")]
    g = play(at(players=players, deck_top=["Temple"], called=3), "draw cards")
    assert (g.question, g.hand(0), g.deck_size, g.discard_size) == ("PLAY", ["Temple"], 0, 0)
    reach(g, "Architect")
    assert (g.legal(), g.gold[3], g.hand(3)) == (["end turn"], 2, [])  # no card anywhere: gold was the only action, and no cards to take


@pytest.mark.rule("X-25", "D-PARK", "D-SMITHY")
def test_nothing_is_offered_that_only_draws_from_an_empty_deck() -> None:
    rules = using(GERMAN, "Navigator", add_districts=("Park",))
    rest = leftovers(rules, "Park", "Smithy")
    seats = [seat("Navigator", gold=5, city=["Park", "Smithy"]), seat("Bishop", hand=rest), seat("Thief"), seat("Magician")]
    g = at(rules, players=seats, called=6)
    assert (g.deck_size, g.gold[0]) == (0, 7)  # the action could only be gold
    assert set(g.legal()) == {"take 4 gold", "end turn"}
    play(g, "end turn")
    assert g.question == "DRAFT"  # and the Park was not asked


@pytest.mark.rule("X-26", "I15", "O-throne_room_emperor_counts", "D-THRONE", "R132")
@pytest.mark.parametrize("counts", [1, 2])
def test_the_emperors_passing_on_is_one_move_of_the_crown_or_two(counts: int) -> None:
    rules = using(GERMAN, "Emperor", add_districts=("Throne Room",), throne_room_emperor_counts=counts)
    g = table(seat("Emperor"), seat("Bishop"), seat("Merchant", city=["Throne Room"]), rules=rules, crown=3)
    play(g, "crown player 1")
    assert g.gold[2] == counts


@pytest.mark.rule("X-27", "R-ABB-2", "R77", "R78", "P-3")
def test_who_is_richest_is_judged_when_the_abbot_asks() -> None:
    g = table(seat("Abbot", gold=2), seat("Merchant", gold=4), rules=using(GERMAN, "Abbot"))
    early = play(g.clone(), "use power")
    assert early.gold[:2] == (3, 3)
    assert "use power" not in early.legal()
    assert "use power" not in play(early, "take gold").legal()  # once a turn
    late = play(g, "take gold")
    assert "use power" not in late.legal()  # now as rich as the other


@pytest.mark.rule("X-27", "R77", "R80")
def test_gold_on_districts_makes_nobody_richer() -> None:
    rules = using(GERMAN, "Abbot", "Artist")
    g = at(
        rules,
        players=[seat("Abbot"), seat("Merchant", gold=2), seat("Thief", gold=1, city=["Manor*", "Docks*"]), seat("Magician")],
        called=4,
    )
    assert play(g, "use power").gold[:3] == (1, 1, 1)


@pytest.mark.rule("X-28", "O-warlord_timing", "R-WARLORD")
@pytest.mark.parametrize("timing", ["any", "end_of_turn"])
def test_the_warlord_destroys_at_any_moment_or_at_the_end(timing: str) -> None:
    players = [seat("Warlord", gold=2, hand=["Tavern"]), seat("King", city=["Market"]), seat("Thief"), seat("Magician")]
    g = at(GERMAN.with_(warlord_timing=timing), players=players, called=7)
    assert ("destroy Market of player 1" in g.legal()) == (timing == "any")
    play(g, "take gold", "destroy Market of player 1")
    assert ("build Tavern" in g.legal()) == (timing == "any")
    assert (g.legal() == ["end turn"]) == (timing == "end_of_turn")


@pytest.mark.rule("X-28", "O-diplomat_timing", "R96", "R-DIP-5")
@pytest.mark.parametrize("timing", ["any", "end_of_turn"])
def test_the_diplomat_exchanges_at_any_moment_or_at_the_end(timing: str) -> None:
    g = diplomat(["Manor"], ["Battlefield", "Docks"], rules=GERMAN.with_(diplomat_timing=timing))
    assert (texts(g, "offer") == ["offer Manor"]) == (timing == "any")
    play(g, "take gold", "offer Manor", "exchange for Battlefield of player 1")
    assert ("income" in g.legal()) == (timing == "any")
    assert (g.legal() == ["end turn"]) == (timing == "end_of_turn")


@pytest.mark.rule("X-29", "R63", "R-WIZ-1", "R-WIZ-2", "P-5")
def test_the_wizard_builds_the_taken_card_even_before_his_action() -> None:
    g = table(seat("Wizard", gold=3, hand=["Tavern"]), seat("King", hand=["Manor", "Palace"]), rules=using(GERMAN, "Wizard"))
    play(g, "look at player 1", "take Manor", "build Manor")
    assert (g.question, g.city(0), g.gold[0]) == ("PLAY", ["Manor"], 0)
    play(g, "take gold", "build Tavern", "end turn")
    assert g.city(0) == ["Manor", "Tavern"]


@pytest.mark.rule("X-30", "R100", "D-MUSEUM")
def test_museum_cards_move_with_the_museum_and_are_discarded_with_it() -> None:
    rules = using(GERMAN, "Diplomat", add_districts=("Museum", "Powder Tower"))
    g = diplomat(["Manor"], ["Museum", "Docks"], rules=rules, museum=2)
    assert (g.museum(0), g.museum(1)) == (0, 2)
    play(g, "offer Manor", "exchange for Museum of player 1")
    assert (g.museum(0), g.museum(1), g.scores()[0]) == (2, 0, 4 + 2)
    h = at(
        GERMAN.with_(add_districts=("Museum",)),
        players=[seat("Warlord", gold=3), seat("King", city=["Museum"], museum=2), seat("Thief"), seat("Magician")],
        called=7,
    )
    play(h, "destroy Museum of player 1")
    assert (h.museum(1), h.city(1), h.discard_size) == (0, [], 3)


@pytest.mark.rule("X-30", "R100", "D-MUSEUM", "D-GRAVEYARD")
def test_a_museum_saved_from_destruction_begins_anew() -> None:
    rules = using(GERMAN, "Artist", add_districts=("Museum",))
    players = [seat("Warlord", gold=3), seat("King", city=["Museum"], museum=2), seat("Artist", gold=9, city=["Graveyard"]), seat("Thief")]
    g = at(rules, players=players, called=7)
    play(g, "destroy Museum of player 1", "yes")
    assert g.discard_size == 2
    play(reach(g, "Artist"), "take gold", "build Museum")
    assert (g.museum(2), g.scores()[2]) == (0, 5 + 4)


@pytest.mark.rule("X-30", "I38", "D-MUSEUM")
def test_only_the_number_of_museum_cards_is_known() -> None:
    rules = GERMAN.with_(add_districts=("Museum",))
    g = table(seat("King", city=["Museum"], hand=["Docks", "Keep"]), seat("Bishop"), rules=rules)
    before = g.observation(1).copy()
    one, other = play(g.clone(), "museum Docks"), play(g.clone(), "museum Keep")
    assert (one.observation(1) == other.observation(1)).all()
    assert (one.observation(1) != before).any()
    assert one.museum(0) == other.museum(0) == 1


# --- X-31 to X-35 ---------------------------------------------------------------------------


@pytest.mark.rule("X-31", "X-25", "I34")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("role", ["Architect", "Navigator"])
def test_with_deck_and_discards_empty_nothing_that_draws_is_offered(edition: str, role: str) -> None:
    timing = {"architect_cards_timing": "any", "navigator_bonus_ends_turn": False}
    rules = using(EDITIONS[edition], role, add_districts=("Park",), **timing)
    rest = leftovers(rules, "Park", "Smithy")
    seats = [seat(role, gold=9, city=["Park", "Smithy"]), seat("Bishop", hand=rest), seat("Thief"), seat("Magician")]
    g = at(rules, players=seats, called=6)
    assert (g.deck_size, g.discard_size, g.hand(0), g.gold[0]) == (0, 0, [], 11)  # of the action only gold was left
    assert set(g.legal()) == {"end turn"} | ({"take 4 gold"} if role == "Navigator" else set())
    play(g, "end turn")
    assert (g.actor, g.question) != (0, "PARK")


@pytest.mark.rule("X-31", "R-MAGICIAN", "P-4")
@pytest.mark.parametrize("edition", EDITIONS)
def test_the_magician_may_exchange_his_cards_with_an_empty_deck_and_gets_them_back(edition: str) -> None:
    rules = EDITIONS[edition]
    rest = leftovers(rules, "Temple", "Docks")
    players = [seat("Magician", hand=["Temple", "Docks"]), seat("Bishop", hand=rest), seat("Thief"), seat("King")]
    g = at(rules, players=players, called=2)
    assert g.deck_size + g.discard_size == 0
    play(g, "discard Temple", "discard Docks")
    if g.question == "DISCARD":
        play(g, "done")
    assert (g.question, g.hand(0)) == ("PLAY", ["Docks", "Temple"])


@pytest.mark.rule("X-32", "R140", "D-BELL", "O-bell_tower_choice")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("choice", ["must_decide", "may_announce"])
def test_the_announcement_of_the_bell_tower_is_not_asked_once_the_end_is_certain(edition: str, choice: str) -> None:
    rules = EDITIONS[edition].with_(add_districts=("Bell Tower",), bell_tower_choice=choice)
    eight = ["Manor", "Castle", "Temple", "Church", "Tavern", "Market", "Watchtower", "Prison"]
    for others, certain in ((eight, True), (eight[:7], False)):
        g = table(seat("Bishop", gold=5, hand=["Bell Tower"]), seat("Thief", city=others), rules=rules)
        play(g, "take gold", "build Bell Tower")
        assert (g.question == "BELL_TOWER") is (choice == "must_decide" or not certain)


@pytest.mark.rule("X-33", "R136", "R142", "B-SCORE", "D-BELL")
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_bell_tower_that_completes_a_city_under_the_old_number_makes_its_builder_alone_the_first(edition: str) -> None:
    rules = EDITIONS[edition].with_(add_districts=("Bell Tower",))
    seven = ["Manor", "Castle", "Temple", "Church", "Tavern", "Market", "Watchtower"]  # 14 points, four colours
    other = ["Manor", "Palace", "Monastery", "Tavern", "Docks", "Watchtower", "Prison"]  # 18 points
    g = table(seat("Bishop", gold=5, hand=["Bell Tower"], city=seven), seat("Thief", city=other), rules=rules)
    play(g, "take gold", "build Bell Tower")
    assert (g.question, g.first_completers) == ("BELL_TOWER", [0])
    play(g, "end at 7")
    assert (g.districts_to_end, g.first_completers) == (7, [0])
    finish(g)
    assert g.over
    assert g.scores()[:2] == (14 + 5 + 3 + 4, 18 + 2)


def keeping_emperor(edition: str, crown: int, **options: Any) -> Game:
    """The Emperor, seat 0, is called and may leave the crown; seat 1 has something to give, seat 2 the Throne Room."""
    options = {"add_districts": ("Throne Room",), "emperor_may_keep_crown_in_place": True} | options
    rules = using(EDITIONS[edition], "Emperor", **options)
    rich, throne = seat("Bishop", gold=3, hand=["Docks"]), seat("Merchant", city=["Throne Room"])
    return table(seat("Emperor"), rich, throne, rules=rules, crown=crown)


@pytest.mark.rule("X-34", "R1", "R2", "R-EMP-2", "R-EMP-4", "D-THRONE", "P-8", "O-emperor_may_keep_crown_in_place")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("counts", [1, 2])
def test_an_emperor_who_may_keep_the_crown_in_place_moves_nothing_and_nobody_pays(edition: str, counts: int) -> None:
    g = keeping_emperor(edition, crown=1, emperor_tribute="payer_chooses", throne_room_emperor_counts=counts)
    others = {"crown player 2", "crown player 3"} | ({"crown player 1"} if g.rules.emperor_may_return_crown else set())
    assert (g.actor, g.question, set(g.legal())) == (0, "CROWN", others | {"done"})
    moved = play(g.clone(), "crown player 3")
    assert (moved.crown, moved.gold[2]) == (3, counts)
    play(g, "done")
    assert (g.crown, g.gold, g.hand(1)) == (1, (0, 3, 0, 0), ["Docks"])
    assert (g.actor, g.question) == (0, "PLAY")
    assert finish(g).crown == 1


@pytest.mark.rule("X-34", "R69", "O-emperor_may_keep_crown_in_place")
@pytest.mark.parametrize("edition", EDITIONS)
def test_an_emperor_who_may_keep_the_crown_in_place_may_keep_his_own(edition: str) -> None:
    g = keeping_emperor(edition, crown=0)
    assert set(g.legal()) == {"crown player 1", "crown player 2", "crown player 3", "done"}
    play(g, "done")
    assert (g.crown, g.gold[2]) == (0, 0)
    assert (finish(g).actor, g.question) == (0, "DRAFT")


@pytest.mark.rule("X-34", "R2", "R69", "O-emperor_may_keep_crown_in_place")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("crown", [0, 1])
def test_without_the_option_the_emperor_must_pass_the_crown(edition: str, crown: int) -> None:
    assert not EDITIONS[edition].emperor_may_keep_crown_in_place
    g = keeping_emperor(edition, crown=crown, emperor_may_keep_crown_in_place=False)
    assert g.question == "CROWN"
    assert "done" not in g.legal()


@pytest.mark.rule("X-34", "X-18", "R37", "O-emperor_may_keep_crown_in_place", "O-bewitched_emperor_crown")
@pytest.mark.parametrize(("by", "actor"), [("witch", 0), ("emperor_player", 1)])
def test_whoever_passes_the_crown_of_a_bewitched_emperor_may_leave_it_too(by: str, actor: int) -> None:
    options: dict[str, Any] = {"bewitched_emperor_crown": by, "emperor_may_keep_crown_in_place": True, "add_districts": ("Throne Room",)}
    rules = using(FRENCH, "Witch", "Emperor", **options)
    g = table(seat("Witch"), seat("Emperor"), seat("Bishop", gold=4, city=["Throne Room"]), rules=rules, crown=2)
    play(g, "take gold", "name Emperor")
    finish(g, lambda g: g.question == "CROWN")
    assert (g.actor, "done" in g.legal()) == (actor, True)
    play(g, "done")
    assert (g.crown, g.gold[2], g.question == "TRIBUTE") == (2, 4, False)
    finish(g, lambda g: g.question == "PLAY" and g.turn_role == "Emperor")
    assert g.actor == 0


@pytest.mark.rule("X-34", "X-17", "O-emperor_may_keep_crown_in_place", "O-emperor_may_return_crown")
def test_with_two_players_and_no_receiver_nothing_is_asked_with_the_option_either() -> None:
    rules = using(FRENCH, "Emperor", players=2, emperor_may_keep_crown_in_place=True)
    for crown, question in ((1, "PLAY"), (0, "CROWN")):
        g = at(rules, players=[seat("Emperor", "Magician"), seat("Thief", "Bishop")], crown=crown, called=3)
        assert (g.actor, g.question) == (0, question)
    assert set(g.legal()) == {"crown player 1", "done"}


@pytest.mark.rule("X-35", "X-20", "R-ART-2", "D-POOR", "R-WARLORD", "R-DIP-2", "O-poor_house_cost")
@pytest.mark.parametrize(("wall", "price"), [([], 0), (["Great Wall"], 1)])
def test_a_beautified_poor_house_costs_the_warlord_nothing_and_the_diplomat_one(wall: list[str], price: int) -> None:
    city = ["Poor House*", *wall]
    rules = using(GERMAN, "Artist", add_districts=("Poor House", "Great Wall"))
    g = table(seat("Warlord", gold=3), seat("Bishop"), seat("Thief", city=city), rules=rules)
    assert play(g, "destroy Poor House* of player 2").gold[0] == 3 - price
    rules = using(GERMAN, "Artist", "Diplomat", add_districts=("Poor House", "Great Wall"))
    g = table(seat("Diplomat", gold=3, city=["Tavern", "Temple*"]), seat("Bishop"), seat("Thief", city=city), rules=rules)
    play(g, "offer Tavern")  # costs 1, as the beautified Poor House does
    if g.question == "EXCHANGE":
        play(g, "exchange for Poor House* of player 2")
    assert (g.gold[0], "Poor House*" in g.city(0)) == (3 - price, True)


# --- I1 to I38 ------------------------------------------------------------------------------


@pytest.mark.rule("I1", "R-ASSASSIN", "R-THIEF")
def test_a_role_lying_open_may_be_named() -> None:
    for role, question in (("Assassin", "PLAY"), ("Thief", "PLAY"), ("Witch", "NAME")):
        g = table(seat(role), rules=using(GERMAN, role), face_up=["Magician", "Bishop"])
        assert sorted(g.face_up) == ["Bishop", "Magician"]
        if question == "NAME":
            play(g, "take gold")
        assert g.question == question
        assert {"name Magician", "name Bishop"} <= set(g.legal())


@pytest.mark.rule("I2", "R-ASSASSIN", "R-THIEF", "R9", "R-WITCH-1")
def test_nobody_names_his_own_role() -> None:
    g = table(seat("Assassin"))
    assert texts(g, "name") == [f"name {name}" for name in GERMAN.roles[1:]]
    g = table(seat("Thief"))
    assert texts(g, "name") == [f"name {name}" for name in GERMAN.roles[2:]]
    g = play(table(seat("Witch"), rules=using(GERMAN, "Witch")), "take gold")
    assert texts(g, "name") == [f"name {name}" for name in GERMAN.roles[1:]]


def taxed(players: list[dict[str, Any]], **position: Any) -> Game:
    """The last seat is a Bishop with 3 gold who has just built a Tavern and ended his turn."""
    g = at(
        using(GERMAN, "Tax Collector", **position.pop("options", {})),
        players=[*players, seat("Bishop", gold=3, hand=["Tavern"])],
        **position,
    )
    reach(g, "Bishop")
    return play(g, "take gold", "build Tavern", "end turn")


@pytest.mark.rule("I3", "R-TAX-1")
def test_nobody_pays_a_murdered_tax_collector() -> None:
    players = [seat("Tax Collector"), seat("Assassin"), seat("Magician")]
    assert taxed(players, called=1, murdered="Tax Collector").gold == (0, 0, 2, 4)
    assert taxed(players, called=1).gold == (2 + 1, 0, 2, 3)


@pytest.mark.rule("I3", "R61", "D-HOSPITAL")
def test_nor_one_in_the_hospital() -> None:
    players = [seat("Tax Collector", city=["Hospital"]), seat("Assassin"), seat("Magician")]
    g = taxed(players, called=1, murdered="Tax Collector", options={"add_districts": ("Hospital",)})
    assert g.gold == (2, 0, 2, 4)


@pytest.mark.rule("I4", "R-TAX-1")
def test_nobody_pays_a_tax_collector_nobody_holds() -> None:
    assert taxed([seat("Magician"), seat("King"), seat("Architect")]).gold[3] == 4


@pytest.mark.rule("I5", "R-TAX-1", "B-REVEAL")
def test_the_tax_collector_is_known_when_others_pay() -> None:
    g = at(
        using(GERMAN, "Tax Collector"),
        players=[seat("Tax Collector"), seat("King"), seat("Bishop", gold=1, hand=["Tavern"]), seat("Warlord")],
    )
    reach(g, "Bishop")
    assert g.revealed(0) == ["Tax Collector"]
    play(g, "take gold", "build Tavern", "end turn")
    assert (g.gold[0], g.gold[2]) == (3, 1)


@pytest.mark.rule("I6", "D-GRAVEYARD", "D-POWDER")
def test_the_graveyard_does_not_answer_the_powder_tower() -> None:
    rules = GERMAN.with_(add_districts=("Powder Tower",))
    g = table(seat("King", city=["Powder Tower"]), seat("Bishop", gold=5, city=["Graveyard", "Temple"]), rules=rules)
    play(g, "blow up Temple of player 1")
    assert (g.actor, g.question, g.hand(1)) == (0, "PLAY", [])


@pytest.mark.rule("I7", "D-PARK", "D-POOR")
def test_poor_house_and_park_work_side_by_side() -> None:
    rules = GERMAN.with_(add_districts=("Park", "Poor House"))
    g = table(seat("King", hand=["Market"], city=["Park", "Poor House"]), rules=rules)
    play(g, "take gold", "build Market", "end turn", "yes")
    assert (g.gold[0], len(g.hand(0))) == (1, 2)


@pytest.mark.rule("I8", "D-PARK", "R-TAX-1")
def test_the_park_works_whatever_the_tax_did() -> None:
    rules = using(GERMAN, "Tax Collector", add_districts=("Park",))
    for gold in (2, 3):  # without and with a coin for the tax
        g = table(seat("King", gold=gold, hand=["Castle"], city=["Park"]), seat("Tax Collector"), rules=rules)
        play(g, "take gold", "build Castle", "end turn", "yes")
        assert (g.gold[0], len(g.hand(0)), g.gold[1]) == (0, 2, gold - 2)


@pytest.mark.rule("I10", "O-hospital_turn_end_effects", "D-HOSPITAL")
@pytest.mark.parametrize("edition", EDITIONS)
def test_the_poor_house_works_after_a_hospital_turn_in_every_edition(edition: str) -> None:
    rules = EDITIONS[edition].with_(add_districts=("Hospital", "Poor House"))
    thief = seat("Thief", city=["Hospital", "Poor House"])
    g = table(thief, seat("King"), seat("Assassin"), rules=rules, murdered="Thief", deck_top=["Temple", "Docks"])
    play(g, "draw cards", "keep Docks")
    assert (g.turn_role, g.gold[0]) == ("King", 1)


@pytest.mark.rule("I11", "D-HOSPITAL", "R116")
def test_the_hospital_shows_the_murdered_role_when_it_is_called() -> None:
    rules = GERMAN.with_(add_districts=("Hospital",))
    g = table(seat("Thief", city=["Hospital", "Tavern"]), seat("King"), seat("Assassin"), rules=rules, murdered="Thief")
    assert (g.actor, g.question, g.revealed(0)) == (0, "ACTION", ["Thief"])
    assert table(seat("Thief", city=["Tavern"]), seat("King"), seat("Assassin"), rules=rules, murdered="Thief").revealed(0) == []


@pytest.mark.rule("I12", "R13", "B-HEIR", "D-HOSPITAL")
def test_a_murdered_king_in_the_hospital_still_waits_for_the_crown() -> None:
    rules = GERMAN.with_(add_districts=("Hospital",))
    g = table(seat("King", city=["Hospital", "Manor"]), seat("Bishop"), seat("Assassin"), rules=rules, murdered="King", crown=2)
    assert (g.actor, g.question, g.crown) == (0, "ACTION", 2)
    play(g, "take gold")
    assert (g.turn_role, g.crown, g.gold[0]) == ("Bishop", 2, 2)
    finish(g)
    assert (g.crown, g.actor) == (0, 0)


@pytest.mark.rule("I13", "R9", "D-HOSPITAL")
def test_the_murdered_role_cannot_be_robbed_in_the_hospital_either() -> None:
    rules = GERMAN.with_(add_districts=("Hospital",))
    g = at(
        rules,
        players=[seat("King", gold=5, city=["Hospital"]), seat("Thief"), seat("Assassin"), seat("Warlord")],
        called=1,
        murdered="King",
    )
    assert texts(g, "name") == [f"name {name}" for name in GERMAN.roles[2:] if name != "King"]
    reach(g, "King")
    assert (g.question, g.gold[0]) == ("ACTION", 5)


@pytest.mark.rule("I14", "I16", "D-THRONE", "R132")
@pytest.mark.parametrize(("crown", "gold"), [(0, 0), (1, 1), (2, 1)])
def test_the_throne_room_pays_only_when_the_crown_really_moves(crown: int, gold: int) -> None:
    rules = GERMAN.with_(add_districts=("Throne Room",))
    g = table(seat("King"), seat("Bishop", city=["Throne Room"]), rules=rules, crown=crown)
    assert (g.crown, g.gold[1]) == (0, gold)


@pytest.mark.rule("I14", "B-HEIR", "D-THRONE")
@pytest.mark.parametrize(("crown", "gold"), [(0, 0), (1, 1)])
def test_an_heir_who_has_the_crown_already_moves_nothing(crown: int, gold: int) -> None:
    rules = GERMAN.with_(add_districts=("Throne Room",))
    g = at(
        rules,
        players=[seat("King"), seat("Assassin"), seat("Magician", city=["Throne Room"]), seat("Warlord")],
        crown=crown,
        called=3,
        murdered="King",
    )
    finish(g)
    assert (g.crown, g.gold[2]) == (0, gold)


@pytest.mark.rule("I16", "D-THRONE", "R132")
def test_the_throne_room_pays_when_its_owner_receives_the_crown() -> None:
    rules = GERMAN.with_(add_districts=("Throne Room",))
    g = table(seat("King", city=["Throne Room"]), rules=rules, crown=2)
    assert (g.crown, g.gold[0]) == (0, 1)


@pytest.mark.rule("I15", "R68", "D-THRONE", "O-emperor_may_return_crown", "R-EMP-2")
def test_a_crown_given_back_has_not_moved() -> None:
    rules = using(GERMAN, "Emperor", add_districts=("Throne Room",))
    g = table(seat("Emperor"), seat("Bishop", city=["Throne Room"]), rules=rules, crown=2)
    play(g, "crown player 2")
    assert (g.crown, g.gold[1]) == (2, 0)


@pytest.mark.rule("I23", "R-WITCH-3", "R-THIEF", "R34")
def test_for_a_bewitched_thief_the_witch_names_and_gets_the_gold() -> None:
    g = table(seat("Witch"), seat("Thief", gold=1), seat("King", gold=6), rules=using(GERMAN, "Witch"))
    play(g, "take gold", "name Thief", "take gold")
    assert (g.actor, g.question) == (0, "PLAY")
    assert "name Thief" not in g.legal()
    assert "name Witch" not in g.legal()
    play(g, "name King", "end turn")
    assert (g.turn_role, g.gold[:3]) == ("King", (2 + 6, 3, 0))


@pytest.mark.rule("I24", "R-WITCH-3", "R34", "R45")
def test_as_the_magician_the_witch_uses_her_own_hand() -> None:
    g = table(seat("Witch", hand=["Docks"]), seat("Magician", hand=["Palace", "Manor"]), rules=using(GERMAN, "Witch"))
    play(g, "take gold", "name Magician", "take gold")
    assert set(texts(g, "swap")) == {"swap hands with player 1", "swap hands with player 2", "swap hands with player 3"}
    assert texts(g, "discard") == ["discard Docks"]
    play(g, "swap hands with player 1")
    assert (g.hand(0), g.hand(1)) == (["Manor", "Palace"], ["Docks"])


@pytest.mark.rule("I24", "R45")
def test_as_the_wizard_the_witch_may_look_at_the_bewitched_player() -> None:
    g = table(seat("Witch", gold=5), seat("Wizard", hand=["Palace", "Manor"]), rules=using(GERMAN, "Witch", "Wizard"))
    play(g, "take gold", "name Wizard", "take gold", "look at player 1", "take Manor", "build Manor")
    assert (g.city(0), g.gold[0], g.hand(1)) == (["Manor"], 4, ["Palace"])


@pytest.mark.rule("I26", "D-LIGHT", "R118")
def test_with_an_empty_deck_the_lighthouse_finds_nothing() -> None:
    rules = GERMAN.with_(add_districts=("Lighthouse",))
    rest = leftovers(rules, "Lighthouse")
    g = table(seat("King", gold=3, hand=["Lighthouse"]), seat("Bishop", hand=rest), rules=rules)
    assert g.deck_size == 0
    play(g, "build Lighthouse")  # with nothing to draw the action was gold, unasked
    assert (g.actor, g.question, g.hand(0), g.gold[0]) == (0, "PLAY", [], 2)


@pytest.mark.rule("I27", "D-LIGHT", "R118")
def test_the_lighthouse_does_not_search_the_discards() -> None:
    rules = GERMAN.with_(add_districts=("Lighthouse",))
    rest = leftovers(rules, "Lighthouse", "Temple", "Docks", "Keep")
    g = table(seat("King", gold=3, hand=["Lighthouse"]), seat("Bishop", hand=rest), rules=rules, discard=["Keep"])
    play(g, "take gold", "build Lighthouse")
    assert set(g.legal()) == {"take Temple", "take Docks", "done"}


@pytest.mark.rule("I27", "D-LIGHT", "R118")
@pytest.mark.parametrize("taken", ["Temple", "Docks", "Keep"])
def test_the_lighthouse_takes_the_very_card_out_of_the_deck(taken: str) -> None:
    rules = GERMAN.with_(add_districts=("Lighthouse",))
    rest = leftovers(rules, "Lighthouse", "Temple", "Docks", "Keep")
    players = [seat("King", gold=3, hand=["Lighthouse"]), seat("Bishop", hand=rest), seat("Architect"), seat("Warlord")]
    g = at(rules, players=players, called=3)
    play(g, "take gold", "build Lighthouse", f"take {taken}")
    play(reach(g, "Architect"), "use power")
    assert (g.hand(0), g.hand(2), g.deck_size) == ([taken], sorted({"Temple", "Docks", "Keep"} - {taken}), 0)


@pytest.mark.rule("I28", "D-LAB")
def test_an_exchanged_district_can_be_used_again_by_its_new_owner() -> None:
    rules = using(GERMAN, "Diplomat", "Artist")
    players = [
        seat("Diplomat", hand=["Tavern"], city=["Laboratory"]),
        seat("Artist", hand=["Docks"], city=["Castle"]),
        seat("Thief"),
        seat("Magician"),
    ]
    g = at(rules, players=players, called=7)
    play(g, "laboratory Tavern", "offer Laboratory")
    if g.question == "EXCHANGE":
        play(g, "exchange for Castle of player 1")
    assert g.city(1) == ["Laboratory"]
    reach(g, "Artist")
    play(g, "laboratory Docks")
    assert (g.gold[1], g.hand(1)) == (1, [])


@pytest.mark.rule("I29", "R87", "R88", "R-DIP-2")
def test_the_diplomat_must_have_the_gold_he_pays() -> None:
    assert exchanges(diplomat(["Tavern"], ["Market", "Docks", "Harbor"], gold=2)) == {("Tavern", "Market"), ("Tavern", "Docks")}
    assert texts(diplomat(["Tavern"], ["Harbor"], gold=2), "offer") == []
    g = play(diplomat(["Tavern"], ["Market", "Docks"], gold=2), "offer Tavern", "exchange for Docks of player 1")
    assert g.gold[:2] == (0, 2)
    g = play(diplomat(["Docks"], ["Market", "Tavern"], gold=2), "offer Docks", "exchange for Tavern of player 1")
    assert g.gold[:2] == (2, 0)  # no money for the dearer one


@pytest.mark.rule("R99", "R-ART-3", "R-DIP-2")
@pytest.mark.parametrize("name", ["Haunted City", "Keep", "Smithy"])
def test_a_beautified_district_takes_its_gold_along(name: str) -> None:
    g = diplomat([f"{name}*"], ["Tavern", "Temple"], rules=using(GERMAN, "Artist"))
    assert texts(g, "offer") == [f"offer {name}*"]
    play(g, f"offer {name}*", "exchange for Tavern of player 1")
    assert (g.city(0), g.city(1)) == (["Tavern"], ["Temple", f"{name}*"])


FULL = ["Temple", "Church", "Monastery", "Tavern", "Market", "Trading Post", "Docks", "Watchtower"]


@pytest.mark.rule("I30", "R93", "R94", "R-DIP-4")
def test_an_exchange_leaves_complete_cities_complete() -> None:
    g = diplomat(["Manor", *FULL[:7]], ["Prison"])
    play(g, "offer Manor")
    if g.question == "EXCHANGE":
        play(g, "exchange for Prison of player 1")
    assert (len(g.city(0)), len(g.city(1)), g.first_completers) == (8, 1, [0])
    h = diplomat(["Manor"], FULL)
    play(h, "offer Manor", "exchange for Watchtower of player 1", "take gold", "end turn")
    assert h.over
    assert h.scores()[:2] == (1, 14 + 3 + 4)


@pytest.mark.rule("I31", "R112")
def test_the_first_to_complete_stays_first() -> None:
    rules = GERMAN.with_(add_districts=("Powder Tower",))
    g = at(rules, players=[seat("Warlord", city=["Powder Tower"]), seat("King", city=FULL), seat("Thief"), seat("Magician")], called=7)
    assert g.first_completers == [1]
    play(g, "blow up Watchtower of player 1", "take gold", "end turn")
    assert (g.over, g.first_completers, g.scores()[1]) == (True, [1], 14 + 4)


@pytest.mark.rule("I32", "D-POWDER")
def test_blowing_up_ones_own_powder_tower_does_not_stop_the_end() -> None:
    rules = GERMAN.with_(add_districts=("Powder Tower",))
    g = table(seat("King", hand=["Watchtower"], city=[*FULL[:6], "Powder Tower"]), seat("Bishop", city=["Keep"]), rules=rules)
    play(g, "take gold", "build Watchtower", "blow up Keep of player 1")
    assert (len(g.city(0)), g.first_completers) == (7, [0])
    finish(g)
    assert (g.over, g.scores()[0]) == (True, 11 + 1 + 4)


@pytest.mark.rule("I33", "R17", "R18", "O-warlord_own_city")
def test_the_warlord_cannot_destroy_in_his_own_complete_city() -> None:
    rules = GERMAN.with_(warlord_own_city=True)
    for city, allowed in ((FULL[:7], True), (FULL, False)):
        g = at(rules, players=[seat("Warlord", gold=5, city=city), seat("King"), seat("Thief"), seat("Magician")], called=7)
        assert (texts(g, "destroy") != []) == allowed


@pytest.mark.rule("I35", "B-TWO-ROLES", "D-POOR", "D-PARK")
def test_with_two_roles_poor_house_and_park_work_twice() -> None:
    rules = GERMAN.with_(add_districts=("Poor House", "Park"))
    g = at(rules, players=[seat("King", "Warlord", hand=["Market"], city=["Poor House", "Park"]), seat("Thief", "Bishop")], called=3)
    play(g, "take gold", "build Market", "end turn", "no")
    assert (g.turn_role, g.gold[0]) == ("Bishop", 1)
    reach(g, "Warlord")
    play(g, "take gold", "end turn")
    assert (g.question, g.actor) == ("PARK", 0)
    h = at(rules, players=[seat("King", "Warlord", hand=["Market", "Docks"], city=["Poor House"]), seat("Thief", "Bishop")], called=3)
    play(h, "take gold", "build Market", "end turn")
    play(reach(h, "Warlord"), "take gold", "build Docks", "end turn")
    assert (h.round_number, h.gold[0]) == (2, 1)


@pytest.mark.rule("I36", "R-ABB-2", "B-TWO-ROLES")
def test_with_two_roles_the_abbot_works_as_usual() -> None:
    g = at(using(GERMAN, "Abbot"), players=[seat("Abbot", "Warlord", city=["Temple"]), seat("Thief", "Merchant", gold=2)], called=4)
    play(g, "use power", "income")
    assert g.gold == (2, 1)


@pytest.mark.rule("I37", "R-THIEF", "B-TWO-ROLES")
def test_a_thief_may_rob_his_own_second_role_and_keeps_his_gold() -> None:
    g = at(players=[seat("Assassin", "Merchant"), seat("Thief", "Warlord", gold=3)], called=1)
    play(g, "name Warlord", "take gold", "end turn")
    reach(g, "Warlord")
    assert (g.question, g.gold[1]) == ("PLAY", 5)


@pytest.mark.rule("I37", "R-ASSASSIN", "B-TWO-ROLES")
def test_an_assassin_may_murder_his_own_second_role() -> None:
    g = at(players=[seat("Assassin", "Warlord"), seat("Thief", "Merchant")])
    play(g, "name Warlord", "take gold", "end turn")
    finish(g)
    assert (g.round_number, g.gold) == (2, (2, 4))
