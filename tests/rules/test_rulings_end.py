"""Rulings R134 to R142: the Bell Tower and the end of the game."""

from typing import Any

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Rules
from role_helpers import every_edition
from rules_helpers import finish, play, reach, texts
from scenes import EIGHT, SEVEN, exchange, table

BELL_SEVEN = ["Manor", "Castle", "Temple", "Church", "Tavern", "Market", "Bell Tower"]  # 13 + 5 points
OTHER_SEVEN = ["Manor", "Palace", "Monastery", "Tavern", "Docks", "Watchtower", "Prison"]  # 18 points
SIX = SEVEN[:6]  # 13 points


@pytest.mark.rule("R134", "D-BELL")
@every_edition
@pytest.mark.parametrize("end_at", [7, 8])
def test_with_the_bell_tower_for_seven_a_city_of_seven_is_safe_from_the_warlord(rules: Rules, end_at: int) -> None:
    position: dict[str, Any] = {"end_at": 7} if end_at == 7 else {}
    g = table("Warlord", {"gold": 9}, {"city": BELL_SEVEN}, {"city": ["Docks"]}, rules=rules, **position)
    assert g.districts_to_end == end_at
    play(g, "take gold")
    targets = [text for text in texts(g, "destroy") if text.endswith("player 1")]
    assert sorted(targets) == ([] if end_at == 7 else sorted(f"destroy {name} of player 1" for name in BELL_SEVEN))
    assert "destroy Docks of player 2" in g.legal()


@pytest.mark.rule("R135", "D-BELL")
@every_edition
def test_with_the_bell_tower_for_seven_the_bonuses_go_by_seven_districts(rules: Rules) -> None:
    others = ({"city": BELL_SEVEN}, {"city": OTHER_SEVEN}, {"city": SIX})
    with_bell = table("Warlord", {}, *others, rules=rules, end_at=7, first_completers=[1])
    assert tuple(with_bell.scores()) == (0, 18 + 4, 18 + 2, 13)
    without = table("Warlord", {}, *others, rules=rules)
    assert tuple(without.scores()) == (0, 18, 18, 13)


@pytest.mark.rule("R136", "D-BELL")
@every_edition
def test_everybody_who_has_seven_when_the_bell_tower_lowers_the_number_gets_four(rules: Rules) -> None:
    me = {"gold": 3, "hand": ["Bell Tower"], "city": ["Fortress"]}
    g = table("Alchemist", me, {"city": SEVEN}, {"city": OTHER_SEVEN}, {"city": SIX}, rules=rules)
    play(g, "take gold", "build Bell Tower")
    assert (g.question, g.actor, g.legal()) == ("BELL_TOWER", 0, ["end at 7", "end at 8"])
    assert g.first_completers == []
    play(g, "end at 7")
    assert g.districts_to_end == 7
    assert g.first_completers == [1, 2]
    finish(g)
    assert g.over
    assert tuple(g.scores()) == (10, 14 + 4, 18 + 4, 13)


@pytest.mark.rule("R136", "D-BELL")
@every_edition
def test_with_the_bell_tower_for_eight_nothing_changes(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 3, "hand": ["Bell Tower"]}, {"city": SEVEN}, rules=rules)
    play(g, "take gold", "build Bell Tower", "end at 8")
    assert g.districts_to_end == 8
    assert g.first_completers == []
    finish(g)
    assert not g.over
    assert tuple(g.scores())[:2] == (5, 14)


@pytest.mark.rule("R137", "D-BELL")
@every_edition
def test_if_the_bell_tower_is_the_seventh_its_builder_and_all_others_with_seven_get_four_and_later_ones_two(rules: Rules) -> None:
    me = {"gold": 3, "hand": ["Bell Tower"], "city": ["Manor", "Castle", "Temple", "Church", "Tavern", "Market"]}
    late = {"roles": ["Warlord"], "hand": ["Watchtower"], "city": ["Manor", "Palace", "Monastery", "Tavern", "Docks", "Prison"]}
    g = table("Alchemist", me, {"city": SEVEN}, late, rules=rules)
    play(g, "take gold", "build Bell Tower", "end at 7")
    assert sorted(g.first_completers) == [0, 1]
    reach(g, "Warlord")
    play(g, "take gold", "build Watchtower")
    assert sorted(g.first_completers) == [0, 1]
    finish(g)
    assert g.over
    assert tuple(g.scores()) == (18 + 4, 14 + 4, 18 + 2, 0)


@pytest.mark.rule("R138", "D-BELL", "X-23")
@every_edition
def test_when_the_bell_tower_is_destroyed_eight_districts_end_the_game_again(rules: Rules) -> None:
    g = table("Warlord", {"gold": 2}, {"city": ["Bell Tower"]}, {"city": SIX}, rules=rules, end_at=7)
    assert g.districts_to_end == 7
    play(g, "take gold", "destroy Bell Tower of player 1")
    assert g.districts_to_end == 8


@pytest.mark.rule("R138", "D-BELL", "D-POWDER")
@every_edition
def test_when_the_bell_tower_is_blown_up_a_seventh_district_does_not_end_the_game(rules: Rules) -> None:
    builder = {"roles": ["Warlord"], "hand": ["Watchtower"], "city": SIX}
    g = table("Alchemist", {"city": ["Powder Tower"]}, {"city": ["Bell Tower"]}, builder, rules=rules, end_at=7)
    blown = play(g.clone(), "blow up Bell Tower of player 1")
    assert blown.districts_to_end == 8
    for game, over in ((g, True), (blown, False)):
        play(reach(game, "Warlord"), "take gold", "build Watchtower")
        assert game.first_completers == ([2] if over else [])
        finish(game)
        assert game.over is over


@pytest.mark.rule("R139", "X-23", "D-BELL")
@every_edition
def test_if_the_bell_tower_falls_after_somebody_had_seven_the_game_still_ends(rules: Rules) -> None:
    warlord = {"roles": ["Warlord"], "gold": 2}
    me = {"hand": ["Market"], "city": SIX[:4] + ["Tavern", "Watchtower"]}
    g = table("Alchemist", me, {"city": ["Bell Tower", "Docks"]}, warlord, {"city": OTHER_SEVEN[:6]}, rules=rules, end_at=7)
    play(g, "take gold", "build Market")
    assert g.first_completers == [0]
    reach(g, "Warlord")
    play(g, "take gold", "destroy Bell Tower of player 1")
    assert g.districts_to_end == 8
    finish(g)
    assert g.over
    assert tuple(g.scores())[:2] == (3 + 4 + 1 + 2 + 1 + 1 + 2 + 4, 3)


@pytest.mark.rule("X-23", "R139")
def test_the_bonus_of_two_needs_the_full_number_when_the_bell_tower_has_fallen() -> None:
    g = table("Warlord", {"gold": 2}, {"city": ["Bell Tower"]}, {"city": SEVEN}, {"city": OTHER_SEVEN}, end_at=7, first_completers=[2])
    assert tuple(g.scores()) == (0, 5, 14 + 4, 18 + 2)
    play(g, "take gold", "destroy Bell Tower of player 1")
    finish(g)
    assert g.over
    assert tuple(g.scores()) == (0, 0, 14 + 4, 18)


@pytest.mark.rule("R140", "D-BELL", "O-bell_tower_choice")
@every_edition
def test_the_builder_of_the_bell_tower_answers_before_anything_else_happens(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 3, "hand": ["Bell Tower"]}, rules=rules)
    play(g, "take gold", "build Bell Tower")
    assert (g.question, g.actor, g.legal()) == ("BELL_TOWER", 0, ["end at 7", "end at 8"])
    assert play(g.clone(), "end at 7").districts_to_end == 7
    play(g, "end at 8")
    assert (g.districts_to_end, g.question) == (8, "PLAY")


@pytest.mark.rule("R140", "D-BELL", "O-bell_tower_choice")
@pytest.mark.parametrize(
    ("rules", "asked"),
    [
        (GERMAN, True),
        (FRENCH, False),
        (AMERICAN, False),
        (GERMAN.with_(bell_tower_choice="may_announce"), False),
        (AMERICAN.with_(bell_tower_choice="must_decide"), True),
    ],
)
def test_when_the_end_is_certain_the_bell_tower_asks_only_a_builder_who_must_decide(rules: Rules, asked: bool) -> None:
    g = table("Alchemist", {"gold": 3, "hand": ["Bell Tower"]}, {"city": EIGHT}, rules=rules)
    play(g, "take gold", "build Bell Tower")
    assert g.question == ("BELL_TOWER" if asked else "PLAY")
    if not asked:
        assert g.districts_to_end == 8


@pytest.mark.rule("R136", "B-SCORE", "O-bell_tower_choice")
def test_when_somebody_had_eight_already_cities_of_seven_are_not_first_any_more() -> None:
    g = table("Alchemist", {"gold": 3, "hand": ["Bell Tower"]}, {"city": EIGHT}, {"city": OTHER_SEVEN})
    play(g, "take gold", "build Bell Tower", "end at 7")
    assert (g.districts_to_end, g.first_completers) == (7, [1])
    finish(g)
    assert tuple(g.scores()) == (5, 16 + 4, 18 + 2, 0)


@pytest.mark.rule("X-23", "D-BELL")
@every_edition
def test_in_a_game_to_seven_the_bell_tower_offers_six_or_seven(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 3, "hand": ["Bell Tower"]}, rules=rules.with_(city_size=7))
    assert g.districts_to_end == 7
    play(g, "take gold", "build Bell Tower")
    assert g.legal() == ["end at 6", "end at 7"]
    play(g, "end at 6")
    assert g.districts_to_end == 6


@pytest.mark.rule("R141")
@every_edition
def test_a_bell_tower_that_changes_hands_keeps_its_decision(rules: Rules) -> None:
    for end_at in (7, 8):
        position: dict[str, Any] = {"end_at": 7} if end_at == 7 else {}
        g = table("Diplomat", {"city": ["Fortress"]}, {"city": ["Bell Tower"]}, rules=rules, **position)
        play(g, "take gold")
        exchange(g, "Fortress", "Bell Tower", 1)
        assert g.city(0) == ["Bell Tower"]
        assert (g.question, g.districts_to_end) == ("PLAY", end_at)


@pytest.mark.rule("R142", "B-SCORE", "B-END")
@every_edition
def test_first_is_who_places_the_eighth_district_first(rules: Rules) -> None:
    early = {"hand": ["Prison"], "city": SEVEN}
    late = {"roles": ["Warlord"], "hand": ["Watchtower"], "city": ["Manor", "Palace", "Monastery", "Tavern", "Docks", "Harbor", "Prison"]}
    g = table("Alchemist", early, late, rules=rules)
    play(g, "take gold", "build Prison")
    assert g.first_completers == [0]
    reach(g, "Warlord")
    play(g, "take gold", "build Watchtower")
    assert g.first_completers == [0]
    finish(g)
    assert g.over
    assert tuple(g.scores()) == (16 + 4, 22 + 2, 0, 0)
    assert g.winners() == [1]
