"""The end of the game, points, ties and bonuses."""

from typing import Any

import pytest

from citadels_env import GERMAN, Game, Rules
from rules_helpers import at, finish, play, reach, seat, texts, using

EIGHT = ["Temple", "Church", "Monastery", "Tavern", "Market", "Trading Post", "Docks", "Watchtower"]  # 15 points, three colours
SEVEN = EIGHT[:7]  # 14 points, two colours
FIVE_COLOURS = ["Manor", "Temple", "Tavern", "Watchtower", "Keep"]


def last(*first: dict[str, Any], rules: Rules = GERMAN, **position: Any) -> Game:
    """The Warlord in seat 3 is the last to play; three others have had their turns."""
    roles = ("Assassin", "Thief", "Magician")
    seats = [{"roles": [role], "gold": 0, "hand": [], "city": [], **player} for role, player in zip(roles, first, strict=False)]
    seats += [seat(role) for role in roles[len(first) :]]
    return at(rules, players=[*seats, seat("Warlord")], called=7, **position)


def ended(*first: dict[str, Any], rules: Rules = GERMAN, **position: Any) -> Game:
    """The same game when the Warlord has ended his turn with 2 gold."""
    g = play(last(*first, rules=rules, **position), "take gold", "end turn")
    assert g.over
    return g


# --- the end ---------------------------------------------------------------------


@pytest.mark.rule("B-END", "O-city_size")
@pytest.mark.parametrize("size", [6, 7, 8])
def test_the_round_in_which_a_city_is_complete_is_the_last(size: int) -> None:
    rules = GERMAN.with_(city_size=size)
    hand = ["Watchtower"]
    g = at(rules, players=[seat("King", hand=hand, city=EIGHT[: size - 1]), seat("Bishop"), seat("Merchant"), seat("Architect")])
    assert g.districts_to_end == size
    play(g, "take gold", "build Watchtower", "end turn")
    assert g.first_completers == [0]
    assert (g.over, g.turn_role) == (False, "Bishop")
    played = []
    while not g.over:
        played.append(g.turn_role)
        play(g, "take gold", "end turn")
    assert played == ["Bishop", "Merchant", "Architect"]
    assert (g.actor, g.question, g.legal(), g.truncated) == (None, None, [], False)
    assert g.winners() == [0]


@pytest.mark.rule("B-END", "O-city_size")
@pytest.mark.parametrize("size", [6, 7, 8])
def test_one_district_less_does_not_end_the_game(size: int) -> None:
    city = EIGHT[: size - 1]
    g = at(GERMAN.with_(city_size=size), players=[seat("King", city=city), seat("Bishop"), seat("Merchant"), seat("Architect")])
    finish(g)
    assert not g.over
    assert g.first_completers == []
    assert g.scores()[0] == at(players=[seat("King", city=city), seat("Bishop"), seat("Merchant"), seat("Architect")]).scores()[0]


@pytest.mark.rule("B-MORE", "R28")
def test_a_city_may_grow_beyond_its_completion() -> None:
    city = EIGHT[:7]
    g = at(
        players=[
            seat("Architect", gold=9, hand=["Watchtower", "Prison", "Palace"], city=city),
            seat("Bishop"),
            seat("Merchant"),
            seat("Warlord"),
        ],
        called=6,
    )
    play(g, "take gold", "build Watchtower", "build Prison", "build Palace")
    assert len(g.city(0)) == 10
    assert g.scores()[0] == 15 + 2 + 5 + 4


@pytest.mark.rule("B-END", "R142")
def test_first_is_who_completes_first_not_who_has_most() -> None:
    seats = [
        seat("King", hand=["Watchtower"], city=SEVEN),
        seat("Architect", gold=9, hand=["Prison", "Palace"], city=SEVEN),
        seat("Thief"),
        seat("Magician"),
    ]
    g = at(players=seats, called=3)
    play(g, "take gold", "build Watchtower", "end turn", "take gold", "build Prison", "build Palace")
    assert g.first_completers == [0]
    assert g.scores()[:2] == (15 + 4, 14 + 2 + 5 + 2)


@pytest.mark.rule("X-11", "O-max_rounds")
@pytest.mark.parametrize("limit", [1, 3])
def test_a_game_is_cut_off_after_the_last_round_and_scored_as_it_stands(limit: int) -> None:
    g = Game(GERMAN.with_(max_rounds=limit), seed=6)
    while not g.over:
        assert g.round_number <= limit
        finish(g)
    assert (g.truncated, g.actor, g.question) == (True, None, None)
    assert g.scores() == tuple(sum(GERMAN.points(name) for name in g.city(player)) for player in range(4))
    assert g.winners() != []


@pytest.mark.rule("X-11", "O-max_rounds")
def test_a_game_that_ends_in_the_last_round_is_not_cut_off() -> None:
    g = ended({"city": EIGHT}, rules=GERMAN.with_(max_rounds=5), round=5)
    assert (g.over, g.truncated) == (True, False)
    h = play(last({"city": SEVEN}, rules=GERMAN.with_(max_rounds=5), round=5), "take gold", "end turn")
    assert (h.over, h.truncated, h.scores(), h.winners()) == (True, True, (14, 0, 0, 0), [0])
    assert play(last({"city": SEVEN}, rules=GERMAN.with_(max_rounds=6), round=5), "take gold", "end turn").over is False


# --- points ------------------------------------------------------------------------


@pytest.mark.rule("B-SCORE")
def test_districts_count_their_points_and_gold_and_cards_nothing() -> None:
    g = last({"city": ["Palace", "Temple", "Docks"], "gold": 9, "hand": ["Palace", "Keep"]}, {})
    assert g.scores() == (5 + 1 + 3, 0, 0, 0)


@pytest.mark.rule("B-SCORE", "D-UNIVERSITY", "D-DRAGON")
def test_university_and_dragon_gate_count_eight() -> None:
    assert last({"city": ["University"]}, {"city": ["Dragon Gate"]}).scores()[:2] == (8, 8)


@pytest.mark.rule("B-SCORE")
def test_five_colours_count_three() -> None:
    assert last({"city": FIVE_COLOURS}).scores()[0] == 3 + 1 + 1 + 1 + 3 + 3
    for missing in FIVE_COLOURS:
        city = [name for name in FIVE_COLOURS if name != missing]
        assert last({"city": city}).scores()[0] == sum(GERMAN.points(name) for name in city)


@pytest.mark.rule("B-SCORE", "R142")
def test_the_first_complete_city_counts_four_and_every_other_two() -> None:
    g = ended({"city": EIGHT}, {"city": EIGHT}, {"city": SEVEN}, first_completers=[1])
    assert g.scores() == (15 + 2, 15 + 4, 14, 0)
    assert g.winners() == [1]


@pytest.mark.rule("B-SCORE", "D-HAUNTED")
@pytest.mark.parametrize("missing", ["Manor", "Temple", "Tavern", "Watchtower"])
def test_the_haunted_city_may_stand_for_the_missing_colour(missing: str) -> None:
    city = [name for name in ("Manor", "Temple", "Tavern", "Watchtower") if name != missing] + ["Haunted City"]
    cost = sum(GERMAN.points(name) for name in city)
    assert last({"city": [*city, "Keep"]}).scores()[0] == cost + 3 + 3
    assert last({"city": city}).scores()[0] == cost  # it cannot stand for two colours


@pytest.mark.rule("B-SCORE", "D-HAUNTED")
def test_the_haunted_city_may_stay_purple() -> None:
    assert last({"city": ["Manor", "Temple", "Tavern", "Watchtower", "Haunted City"]}).scores()[0] == 3 + 1 + 1 + 1 + 2 + 3


def haunted(rules: Rules, completed_before: bool) -> Game:
    """Seat 0 builds the Haunted City in the last round; with the Keep it lacks only a military district."""
    builder = seat("King", gold=2, hand=["Haunted City"], city=["Manor", "Temple", "Tavern", "Keep"])
    other = seat("Bishop", gold=2, hand=["Watchtower"], city=EIGHT if completed_before else SEVEN)
    g = at(rules, players=[builder, other, seat("Merchant"), seat("Warlord")], called=3)
    play(g, "take gold", "build Haunted City", "end turn")
    if not completed_before:
        play(g, "take gold", "build Watchtower")
    return g


@pytest.mark.rule("O-haunted_city_not_in_last_round", "D-HAUNTED")
@pytest.mark.parametrize("completed_before", [False, True])
@pytest.mark.parametrize("limited", [False, True])
def test_a_haunted_city_of_the_last_round_stands_for_another_colour_or_not(limited: bool, completed_before: bool) -> None:
    g = haunted(GERMAN.with_(haunted_city_not_in_last_round=limited), completed_before)
    finish(g)
    assert g.over
    assert g.scores()[0] == 3 + 1 + 1 + 3 + 2 + (0 if limited else 3)


@pytest.mark.rule("O-haunted_city_not_in_last_round", "D-HAUNTED")
@pytest.mark.parametrize("missing", ["Watchtower", "Keep"])
def test_the_limit_spares_a_haunted_city_of_an_earlier_round_and_its_own_colour(missing: str) -> None:
    rules = GERMAN.with_(haunted_city_not_in_last_round=True)
    city = [name for name in FIVE_COLOURS if name != missing]
    cost = sum(GERMAN.points(name) for name in city) + 2
    assert ended({"city": [*city, "Haunted City"]}, {"city": EIGHT}, rules=rules).scores()[0] == cost + 3
    builder = seat("King", hand=["Haunted City"], city=city)
    g = at(rules, players=[builder, seat("Bishop", city=EIGHT), seat("Merchant"), seat("Warlord")], called=3)
    finish(play(g, "take gold", "build Haunted City"))
    assert g.over
    assert g.scores()[0] == cost + (3 if missing == "Keep" else 0)


@pytest.mark.rule("O-haunted_city_not_in_last_round", "D-HAUNTED")
def test_the_limit_takes_nothing_from_a_city_that_shows_all_colours_without_it() -> None:
    rules = GERMAN.with_(haunted_city_not_in_last_round=True)
    builder = seat("King", hand=["Haunted City"], city=FIVE_COLOURS)
    g = at(rules, players=[builder, seat("Bishop", city=EIGHT), seat("Merchant"), seat("Warlord")], called=3)
    finish(play(g, "take gold", "build Haunted City"))
    assert g.over
    assert g.scores()[0] == 3 + 1 + 1 + 1 + 3 + 2 + 3


# --- complete cities that shrink -----------------------------------------------------


def blown_up(rules: Rules, victim: int) -> Game:
    """Seats 0 (first) and 1 had complete cities; the Warlord's Powder Tower took a Temple from one of them."""
    rules = rules.with_(add_districts=("Powder Tower",))
    players = [seat("Assassin", city=EIGHT), seat("Thief", city=EIGHT), seat("Magician"), seat("Warlord", city=["Powder Tower"])]
    g = at(rules, players=players, called=7, first_completers=[0])
    play(g, f"blow up Temple of player {victim}", "take gold", "end turn")
    assert g.over
    return g


@pytest.mark.rule("O-first_bonus_lost_if_destroyed", "I31", "B-SCORE", "R112")
@pytest.mark.parametrize("lost", [False, True])
def test_the_bonus_of_the_first_stays_or_is_lost_with_a_district(lost: bool) -> None:
    g = blown_up(GERMAN.with_(first_bonus_lost_if_destroyed=lost), victim=0)
    assert g.scores() == (14 + (0 if lost else 4), 15 + 2, 0, 0)


@pytest.mark.rule("I31", "B-SCORE")
@pytest.mark.parametrize("lost", [False, True])
def test_the_bonus_of_the_others_needs_a_complete_city_at_the_end(lost: bool) -> None:
    g = blown_up(GERMAN.with_(first_bonus_lost_if_destroyed=lost), victim=1)
    assert g.scores() == (15 + 4, 14, 0, 0)


@pytest.mark.rule("B-END", "R112")
def test_a_city_that_shrinks_again_does_not_stop_the_end() -> None:
    rules = GERMAN.with_(add_districts=("Powder Tower",))
    players = [seat("King", hand=["Watchtower"], city=SEVEN), seat("Bishop", city=["Powder Tower"]), seat("Merchant"), seat("Warlord")]
    g = at(rules, players=players, called=3)
    play(g, "take gold", "build Watchtower", "end turn", "blow up Temple of player 0", "take gold", "end turn")
    reach(g, "Warlord")
    assert "destroy Watchtower of player 0" in g.legal()  # no longer complete, so no longer safe
    finish(g)
    assert g.over


# --- ties ----------------------------------------------------------------------------

SMALL = ["Tavern", "Tavern", "Tavern", "Tavern", "Tavern", "Temple", "Temple", "Temple"]  # 8 points of districts and 4 for the first
TWELVE = ["Palace", "Cathedral", "Market"]


@pytest.mark.rule("B-TIE", "O-tie_break")
@pytest.mark.parametrize(("rule", "winners"), [("buildings", [1, 2]), ("buildings_then_gold", [2]), ("shared", [0, 1, 2])])
def test_ties_go_to_district_points_then_gold_or_are_shared(rule: str, winners: list[int]) -> None:
    seats: list[dict[str, Any]] = [
        {"city": SMALL, "gold": 9},
        {"city": TWELVE, "gold": 1},
        {"city": ["Palace", "Cathedral", "Prison"], "gold": 5},
    ]
    g = ended(*seats, rules=GERMAN.with_(tie_break=rule))
    assert g.scores() == (12, 12, 12, 0)
    assert g.winners() == winners


@pytest.mark.rule("B-TIE", "O-tie_break")
@pytest.mark.parametrize("rule", ["buildings", "buildings_then_gold", "shared"])
def test_who_is_equal_in_everything_wins_together(rule: str) -> None:
    seats: list[dict[str, Any]] = [{"city": SMALL}, {"city": TWELVE, "gold": 3}, {"city": ["Palace", "Cathedral", "Prison"], "gold": 3}]
    assert ended(*seats, rules=GERMAN.with_(tie_break=rule)).winners() == ([0, 1, 2] if rule == "shared" else [1, 2])


@pytest.mark.rule("B-TIE")
def test_more_points_win_whatever_the_districts() -> None:
    seats: list[dict[str, Any]] = [{"city": SMALL}, {"city": ["Palace", "Cathedral", "Watchtower"], "gold": 9}]
    assert ended(*seats).winners() == [0]


@pytest.mark.rule("X-24", "B-TIE")
def test_a_coin_on_a_district_counts_in_a_tie() -> None:
    rules = using(GERMAN, "Artist", add_districts=("Imperial Treasury",))
    seats = [
        seat("Assassin", city=SMALL),
        seat("Thief", city=["Palace", "Manor*", "Monastery"]),  # 12 points from districts
        seat("Magician", city=["Imperial Treasury", "Palace", "Market"], gold=1),  # 11 from districts, 1 from the Treasury
        seat("Warlord"),
    ]
    g = play(at(rules, players=seats, called=7), "take gold", "end turn")
    assert g.over
    assert g.scores() == (12, 12, 12, 0)
    assert g.winners() == [1]


@pytest.mark.rule("X-24", "B-TIE")
@pytest.mark.parametrize("district", ["University", "Dragon Gate"])
def test_eight_points_count_in_a_tie(district: str) -> None:
    seats: list[dict[str, Any]] = [
        {"city": SMALL},
        {"city": [district, "Castle"]},
        {"city": ["Imperial Treasury", "Palace", "Market"], "gold": 1},
    ]
    g = ended(*seats, rules=GERMAN.with_(add_districts=("Imperial Treasury",)))
    assert g.scores() == (12, 12, 12, 0)
    assert g.winners() == [1]  # 12 points from districts against 8 and 11


# --- Bell Tower ------------------------------------------------------------------------


def bell(rules: Rules = GERMAN, *others: list[str], city: list[str], end: int) -> Game:
    """Seat 0 builds the Bell Tower into `city` and answers `end`; the other seats have the cities named."""
    rules = rules.with_(add_districts=("Bell Tower", "Powder Tower"))
    roles = ("Bishop", "Merchant", "Warlord")
    players = [seat(role, city=town) for role, town in zip(roles, [*others, [], [], []], strict=False)]
    g = at(rules, players=[seat("King", gold=9, hand=["Bell Tower"], city=city), *players], called=3)
    return play(g, "take gold", "build Bell Tower", f"end at {end}")


@pytest.mark.rule("R135", "R136", "D-BELL", "B-SCORE")
def test_all_who_have_seven_when_the_bell_tower_says_so_are_first_together() -> None:
    g = bell(GERMAN, SEVEN, EIGHT[:6], city=EIGHT[:2], end=7)
    assert (g.first_completers, g.districts_to_end) == ([1], 7)
    g = finish(bell(GERMAN, SEVEN, SEVEN, city=EIGHT[:2], end=7))
    assert g.over
    assert g.first_completers == [1, 2]
    assert g.scores() == (1 + 2 + 5, 14 + 4, 14 + 4, 0)


@pytest.mark.rule("R137", "R135")
def test_a_bell_tower_that_is_the_seventh_makes_its_builder_one_of_the_first() -> None:
    g = bell(GERMAN, SEVEN, EIGHT[:6], city=EIGHT[:6], end=7)
    assert sorted(g.first_completers) == [0, 1]
    play(g, "end turn")
    finish(g)
    assert g.scores() == (11 + 5 + 4, 14 + 4, 11, 0)


@pytest.mark.rule("R137", "R135")
def test_who_reaches_seven_later_gets_two() -> None:
    rules = GERMAN.with_(add_districts=("Bell Tower",))
    players = [
        seat("King", gold=9, hand=["Bell Tower"], city=EIGHT[:6]),
        seat("Bishop", hand=["Watchtower"], city=EIGHT[:6]),
        seat("Merchant"),
        seat("Warlord"),
    ]
    g = at(rules, players=players, called=3)
    play(g, "take gold", "build Bell Tower", "end at 7", "end turn", "take gold", "build Watchtower")
    finish(g)
    assert g.over
    assert g.scores() == (11 + 5 + 4, 11 + 1 + 2, 0, 0)


@pytest.mark.rule("R134", "D-BELL")
def test_seven_districts_are_safe_from_the_warlord_when_the_game_ends_at_seven() -> None:
    g = reach(bell(GERMAN, [], SEVEN, city=EIGHT[:2], end=7), "Warlord")
    assert [text for text in texts(g, "destroy") if text.endswith("player 2")] == []
    h = reach(bell(GERMAN, [], SEVEN, city=EIGHT[:2], end=8), "Warlord")
    assert "destroy Temple of player 2" in h.legal()


@pytest.mark.rule("R138", "D-BELL", "X-23")
def test_when_the_bell_tower_falls_eight_districts_end_the_game_again() -> None:
    g = bell(GERMAN, ["Powder Tower"], EIGHT[:6], city=EIGHT[:2], end=7)
    play(g, "end turn", "blow up Bell Tower of player 0")
    assert (g.districts_to_end, g.first_completers) == (8, [])
    finish(g)
    assert not g.over


@pytest.mark.rule("R139", "X-23", "R138")
def test_if_somebody_had_seven_before_the_bell_tower_fell_the_game_ends_all_the_same() -> None:
    g = bell(GERMAN, ["Powder Tower"], SEVEN, city=EIGHT[:2], end=7)
    play(g, "end turn", "blow up Bell Tower of player 0")
    assert g.districts_to_end == 8
    reach(g, "Warlord")
    assert "destroy Temple of player 2" in g.legal()  # complete means eight again
    finish(g)
    assert g.over
    assert g.scores()[2] == 14 + 4  # won before the fall


@pytest.mark.rule("X-23")
def test_the_bonus_of_two_needs_the_full_number_after_the_fall() -> None:
    rules = GERMAN.with_(add_districts=("Bell Tower", "Powder Tower"))
    players = [
        seat("King", gold=9, hand=["Bell Tower"], city=EIGHT[:6]),
        seat("Bishop", hand=["Watchtower"], city=EIGHT[:6]),
        seat("Merchant", city=["Powder Tower"]),
        seat("Warlord", city=EIGHT),
    ]
    g = at(rules, players=players, called=3, first_completers=[3])
    play(g, "take gold", "build Bell Tower", "end at 7", "end turn", "take gold", "build Watchtower", "end turn")
    play(g, "blow up Bell Tower of player 0")
    finish(g)
    assert g.over
    assert g.scores()[1] == 11 + 1  # seven districts; the number was seven only for a while
    assert g.scores()[3] == 15 + 4


@pytest.mark.rule("X-23", "O-city_size")
@pytest.mark.parametrize("size", [6, 7, 8])
def test_the_bell_tower_offers_one_district_less_than_the_full_number(size: int) -> None:
    rules = GERMAN.with_(city_size=size, add_districts=("Bell Tower",))
    g = at(rules, players=[seat("King", gold=5, hand=["Bell Tower"]), seat("Bishop"), seat("Merchant"), seat("Warlord")], called=3)
    play(g, "take gold", "build Bell Tower")
    assert set(g.legal()) == {f"end at {size - 1}", f"end at {size}"}
    play(g, f"end at {size - 1}")
    assert g.districts_to_end == size - 1


@pytest.mark.rule("R141", "D-BELL")
def test_a_bell_tower_that_changes_hands_keeps_its_decision() -> None:
    rules = using(GERMAN, "Diplomat", add_districts=("Bell Tower",))
    players = [seat("King", gold=9, hand=["Bell Tower"]), seat("Bishop"), seat("Merchant"), seat("Diplomat", gold=9, city=["Castle"])]
    g = at(rules, players=players, called=3)
    play(g, "take gold", "build Bell Tower", "end at 7")
    reach(g, "Diplomat")
    play(g, "offer Castle")
    if g.question == "EXCHANGE":
        play(g, "exchange for Bell Tower of player 0")
    assert (g.city(3), g.districts_to_end) == (["Bell Tower"], 7)
    assert g.question == "PLAY"


# --- what districts add ------------------------------------------------------------------


@pytest.mark.rule("B-SCORE", "D-WELL", "R121")
def test_the_wishing_well_counts_the_other_uniques() -> None:
    rules = GERMAN.with_(add_districts=("Wishing Well",))
    assert last({"city": ["Wishing Well"]}, rules=rules).scores()[0] == 5
    assert last({"city": ["Wishing Well", "Keep", "Keep", "Haunted City", "Tavern"]}, rules=rules).scores()[0] == 5 + 3 + 3 + 2 + 1 + 3


@pytest.mark.rule("B-SCORE", "D-TREASURY", "R122")
def test_the_imperial_treasury_counts_gold_but_not_the_gold_on_districts() -> None:
    rules = using(GERMAN, "Artist", add_districts=("Imperial Treasury",))
    assert last({"city": ["Imperial Treasury", "Tavern*"], "gold": 7}, rules=rules).scores()[0] == 4 + 2 + 7


@pytest.mark.rule("B-SCORE", "D-MAP")
def test_the_map_room_counts_cards_in_hand() -> None:
    rules = GERMAN.with_(add_districts=("Map Room",))
    assert last({"city": ["Map Room"], "hand": ["Tavern", "Tavern", "Keep"]}, rules=rules).scores()[0] == 5 + 3


@pytest.mark.rule("B-SCORE", "D-MUSEUM")
def test_the_museum_counts_the_cards_under_it() -> None:
    rules = GERMAN.with_(add_districts=("Museum",))
    assert last({"city": ["Museum"], "museum": 3}, rules=rules).scores()[0] == 4 + 3


@pytest.mark.rule("B-SCORE", "D-FACTORY", "R124")
def test_points_go_by_the_printed_cost_in_spite_of_the_factory() -> None:
    for factory, poor_house in ((5, 0), (6, 5)):
        rules = GERMAN.with_(add_districts=("Factory", "Poor House"), factory_cost=factory, poor_house_cost=poor_house)
        assert last({"city": ["Factory", "Poor House", "Library"]}, rules=rules).scores()[0] == factory + poor_house + 6


@pytest.mark.rule("B-SCORE", "R104", "R-ART-2")
def test_a_beautified_district_counts_one_more() -> None:
    rules = using(GERMAN, "Artist")
    assert last({"city": ["Palace*", "Tavern*", "Tavern"]}, rules=rules).scores()[0] == 5 + 1 + 1 + 1 + 1
