"""The options of roles and base districts, each with every behaviour it offers."""

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Game, Rules
from role_helpers import every_edition, player, with_roles
from rules_helpers import at, finish, play, texts


def warlord(rules: Rules) -> Game:
    """The Warlord (seat 0) begins his turn with 5 gold."""
    players = [
        player("Warlord", gold=5, hand=("Temple",), city=("Watchtower",)),
        player("King", city=("Manor", "Tavern")),
        player("Assassin"),
        player("Thief"),
    ]
    return at(rules, crown=1, called=7, players=players)


@pytest.mark.rule("O-warlord_timing", "B-POWER")
@every_edition
def test_a_warlord_of_any_time_destroys_before_his_action_and_plays_on(rules: Rules) -> None:
    g = warlord(rules.with_(warlord_timing="any", warlord_own_city=False))
    assert set(texts(g, "destroy")) == {"destroy Manor of player 1", "destroy Tavern of player 1"}
    g.play("destroy Manor of player 1")
    assert g.gold[0] == 3
    assert set(g.legal()) == {"take gold", "draw cards", "income"}
    play(g, "income", "take gold", "build Temple")
    assert g.gold[0] == 5
    assert g.legal() == ["end turn"]


@pytest.mark.rule("O-warlord_timing", "X-28")
@every_edition
def test_a_warlord_of_the_end_of_the_turn_destroys_after_his_action_and_then_only_ends_it(rules: Rules) -> None:
    g = warlord(rules.with_(warlord_timing="end_of_turn", warlord_own_city=False))
    assert set(g.legal()) == {"take gold", "draw cards", "income"}
    g.play("take gold")
    assert set(g.legal()) == {"income", "build Temple", "destroy Manor of player 1", "destroy Tavern of player 1", "end turn"}
    g.play("destroy Manor of player 1")
    assert g.gold[0] == 5
    assert g.legal() == ["end turn"]


@pytest.mark.rule("O-warlord_timing")
def test_the_editions_differ_in_the_warlords_moment() -> None:
    assert (GERMAN.warlord_timing, FRENCH.warlord_timing, AMERICAN.warlord_timing) == ("any", "end_of_turn", "end_of_turn")


@pytest.mark.rule("O-warlord_own_city", "R17")
@every_edition
@pytest.mark.parametrize("own", [True, False])
def test_the_warlord_destroys_in_his_own_city_only_if_the_option_says_so(rules: Rules, own: bool) -> None:
    g = warlord(rules.with_(warlord_own_city=own))
    g.play("take gold")
    others = {"destroy Manor of player 1", "destroy Tavern of player 1"}
    assert set(texts(g, "destroy")) == others | ({"destroy Watchtower of player 0"} if own else set())
    if own:
        g.play("destroy Watchtower of player 0")
        assert g.city(0) == []
        assert g.gold[0] == 7


@pytest.mark.rule("O-duplicates_allowed", "R27")
@every_edition
@pytest.mark.parametrize("allowed", [True, False])
def test_a_second_copy_is_built_only_if_duplicates_are_allowed(rules: Rules, allowed: bool) -> None:
    players = [player("King", gold=1, city=("Tavern",), hand=("Tavern", "Temple")), player("Thief"), player("Bishop"), player("Warlord")]
    g = at(rules.with_(duplicates_allowed=allowed), crown=1, called=3, players=players)
    g.play("take gold")
    if allowed:
        assert set(texts(g, "build")) == {"build Temple", "build Tavern"}
        g.play("build Tavern")
        assert g.city(0) == ["Tavern", "Tavern"]
    else:
        assert texts(g, "build") == ["build Temple"]


@pytest.mark.rule("O-duplicates_allowed")
def test_an_architect_may_not_build_the_same_district_twice_in_one_turn_where_duplicates_are_banned() -> None:
    players = [player("Architect", gold=5, hand=("Tavern", "Tavern")), player("Thief"), player("Bishop"), player("Warlord")]
    g = at(FRENCH, crown=1, called=6, deck_top=["Palace", "Fortress"], players=players)
    play(g, "take gold", "build Tavern")
    assert "build Tavern" not in g.legal()
    assert g.city(0) == ["Tavern"]


@pytest.mark.rule("O-smithy")
@pytest.mark.parametrize(
    ("rules", "pay", "cards"),
    [(GERMAN, 3, 2), (FRENCH, 3, 3), (AMERICAN, 2, 3), (GERMAN.with_(smithy=(1, 4)), 1, 4)],
    ids=["german", "french", "american", "other"],
)
def test_the_smithy_takes_its_gold_and_gives_its_cards_once_in_a_turn(rules: Rules, pay: int, cards: int) -> None:
    deck = ["Temple", "Docks", "Castle", "Tavern", "Palace"]
    others = [player("Thief"), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, called=3, deck_top=deck, players=[player("King", gold=pay - 1, city=("Smithy",)), *others])
    assert "smithy" not in g.legal()
    g = at(rules, crown=1, called=3, deck_top=deck, players=[player("King", gold=pay, city=("Smithy",)), *others])
    assert "smithy" in g.legal()
    g.play("smithy")
    assert g.gold[0] == 0
    assert sorted(g.hand(0)) == sorted(deck[:cards])
    play(g, "take gold")
    assert "smithy" not in g.legal()
    g = at(rules, crown=1, called=3, deck_top=deck, players=[player("King", gold=2 * pay, city=("Smithy",)), *others])
    play(g, "smithy")
    assert "smithy" not in g.legal()


@pytest.mark.rule("O-laboratory_gold")
@every_edition
@pytest.mark.parametrize("gold", [1, 2])
def test_the_laboratory_pays_its_gold_for_one_discarded_card_in_a_turn(rules: Rules, gold: int) -> None:
    players = [player("King", city=("Laboratory",), hand=("Temple", "Palace")), player("Thief"), player("Bishop"), player("Warlord")]
    g = at(rules.with_(laboratory_gold=gold), crown=1, called=3, players=players)
    deck, discard = g.deck_size, g.discard_size
    assert set(texts(g, "laboratory")) == {"laboratory Temple", "laboratory Palace"}
    g.play("laboratory Palace")
    assert g.gold[0] == gold
    assert g.hand(0) == ["Temple"]
    assert texts(g, "laboratory") == []
    if rules.discard_to == "discard_pile":
        assert (g.deck_size, g.discard_size) == (deck, discard + 1)
    else:
        assert (g.deck_size, g.discard_size) == (deck + 1, discard)


@pytest.mark.rule("O-laboratory_gold", "O-smithy")
def test_the_editions_differ_in_the_smithy_and_not_in_the_laboratory() -> None:
    assert (GERMAN.smithy, FRENCH.smithy, AMERICAN.smithy) == ((3, 2), (3, 3), (2, 3))
    assert (GERMAN.laboratory_gold, FRENCH.laboratory_gold, AMERICAN.laboratory_gold) == (1, 1, 1)


@pytest.mark.rule("O-emperor_tribute", "R70")
@every_edition
@pytest.mark.parametrize("tribute", ["none", "payer_chooses"])
def test_the_receiver_of_the_crown_pays_only_if_the_option_says_so(rules: Rules, tribute: str) -> None:
    rules = with_roles(rules, "Emperor", emperor_tribute=tribute)
    g = at(
        rules,
        crown=1,
        called=3,
        players=[player("Emperor"), player("Thief"), player("Bishop", gold=2, hand=("Temple",)), player("Warlord")],
    )
    g.play("crown player 2")
    if tribute == "payer_chooses":
        assert (g.question, g.actor) == ("TRIBUTE", 2)
        g.play("give Temple")
        assert (g.hand(0), g.hand(2)) == (["Temple"], [])
    assert (g.question, g.actor) == ("PLAY", 0)
    assert g.gold == (0, 0, 2, 0)
    assert ("Temple" in g.hand(0)) == (tribute == "payer_chooses")


@pytest.mark.rule("O-emperor_may_return_crown", "R68")
@every_edition
@pytest.mark.parametrize("allowed", [True, False])
def test_the_crown_goes_back_to_its_former_holder_only_if_the_option_says_so(rules: Rules, allowed: bool) -> None:
    rules = with_roles(rules, "Emperor", emperor_may_return_crown=allowed)
    g = at(rules, crown=1, called=3, players=[player("Emperor"), player("Thief"), player("Bishop"), player("Warlord")])
    assert set(g.legal()) == {"crown player 2", "crown player 3"} | ({"crown player 1"} if allowed else set())


@pytest.mark.rule("O-bewitched_emperor_crown", "R37")
@every_edition
@pytest.mark.parametrize(("option", "asked"), [("witch", 0), ("emperor_player", 1)])
def test_the_option_says_who_hands_on_the_crown_of_the_bewitched_emperor(rules: Rules, option: str, asked: int) -> None:
    rules = with_roles(rules, "Witch", "Emperor", bewitched_emperor_crown=option)
    g = at(rules, crown=2, players=[player("Witch"), player("Emperor"), player("Bishop"), player("Warlord")])
    play(g, "take gold", "name Emperor")
    finish(g, lambda g: g.question == "CROWN")
    assert g.actor == asked
    assert f"crown player {asked}" not in g.legal()
    assert "crown player 3" in g.legal()
    g.play("crown player 3")
    assert g.crown == 3
    finish(g)
    assert (g.crown, g.actor) == (3, 3)
