"""Rulings R77 to R109: Abbot, Alchemist, Navigator, Diplomat, Artist, Queen."""

from typing import Any

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Game, Rules
from role_helpers import every_edition, with_roles
from rules_helpers import end_turn, finish, play, texts
from scenes import EIGHT, exchange, exchanges, outcome, table

BYSTANDER = {"city": ["Tavern", "Watchtower"]}  # two districts of cost 1, so that the Diplomat always has a choice


# --- Abbot ------------------------------------------------------------------


@pytest.mark.rule("R77", "R-ABB-2")
@every_edition
def test_nobody_pays_the_abbot_when_two_players_tie_for_richest(rules: Rules) -> None:
    g = table("Abbot", {"gold": 1}, {"gold": 5}, {"gold": 5}, {"gold": 4}, rules=rules)
    assert "use power" not in g.legal()
    play(g, "take gold", "end turn")
    assert tuple(g.gold)[:3] == (3, 5, 5)


@pytest.mark.rule("R77", "R-ABB-2")
@every_edition
def test_the_single_richest_player_pays_the_abbot_one_gold_once(rules: Rules) -> None:
    g = table("Abbot", {"gold": 1}, {"gold": 5}, {"gold": 6}, {"gold": 4}, rules=rules)
    play(g, *(["take gold"] if "use power" not in g.legal() else []), "use power")
    assert g.gold[2] == 5
    assert g.gold[1] == 5
    assert g.gold[3] == 4
    assert "use power" not in g.legal()


@pytest.mark.rule("R78", "R-ABB-2")
@every_edition
@pytest.mark.parametrize("gold", [5, 6])
def test_nobody_pays_an_abbot_who_is_among_the_richest(rules: Rules, gold: int) -> None:
    g = table("Abbot", {"gold": gold}, {"gold": 5}, {"gold": 2}, rules=rules)
    assert "use power" not in g.legal()
    play(g, "take gold")
    assert "use power" not in g.legal()
    play(g, "end turn")
    assert tuple(g.gold)[:2] == (gold + 2, 5)


@pytest.mark.rule("X-27", "R78", "R-ABB-2")
def test_the_richest_is_judged_at_the_moment_the_abbot_takes_the_coin() -> None:
    g = table("Abbot", {"gold": 3, "hand": ["Cathedral"]}, {"gold": 4})
    assert "use power" in g.legal()
    play(g, "take gold")
    assert "use power" not in g.legal()
    play(g, "build Cathedral", "use power")
    assert tuple(g.gold) == (1, 3, 0, 0)


@pytest.mark.rule("R79", "R-ABB-3")
@every_edition
def test_the_warlord_destroys_in_the_city_of_the_abbot(rules: Rules) -> None:
    g = table("Warlord", {"gold": 1}, {"roles": ["Abbot"], "city": ["Church"]}, rules=rules)
    play(g, "take gold", "destroy Church of player 1")
    assert outcome(g) == ((2, 0, 0, 0), [[], [], [], []])


@pytest.mark.rule("R79", "R-ABB-3")
@every_edition
def test_the_diplomat_exchanges_with_the_abbot(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["Docks"]}, {"roles": ["Abbot"], "city": ["Church"]}, rules=rules)
    play(g, "take gold")
    exchange(g, "Docks", "Church", 1)
    assert outcome(g) == ((2, 0, 0, 0), [["Church"], ["Docks"], [], []])


@pytest.mark.rule("R80")
@every_edition
def test_gold_on_beautified_districts_makes_nobody_richer(rules: Rules) -> None:
    others = ({"gold": 2, "city": ["Castle*", "Palace*"]}, {"gold": 3})
    g = table("Abbot", {"gold": 0, "city": ["Manor*", "Docks*", "Prison*"]}, *others, rules=rules)
    play(g, "take gold", "use power")
    assert tuple(g.gold) == (3, 2, 2, 0)


# --- Alchemist --------------------------------------------------------------


@pytest.mark.rule("R81", "R-ALC-2")
@every_edition
def test_the_alchemist_cannot_build_beyond_his_gold(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 1, "hand": ["Castle", "Docks"]}, rules=rules)
    play(g, "take gold")
    assert texts(g, "build") == ["build Docks"]


@pytest.mark.rule("R82", "R-ALC-1", "D-QUARRY")
def test_with_a_quarry_the_alchemist_gets_back_the_lowered_price() -> None:
    g = table("Alchemist", {"gold": 5, "hand": ["Palace"], "city": ["Palace", "Quarry"]})
    play(g, "take gold", "build Palace")
    assert g.gold[0] == 3
    play(g, "end turn")
    assert g.gold[0] == 7


@pytest.mark.rule("R82", "R125", "R-ALC-1", "D-FACTORY")
@every_edition
def test_with_a_factory_the_alchemist_gets_back_the_lowered_price(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 1, "hand": ["Keep"], "city": ["Factory"]}, rules=rules)
    play(g, "take gold", "build Keep", "end turn")
    assert g.gold[0] == 3


@pytest.mark.rule("R83", "R-ALC-1", "O-alchemist_refund")
@pytest.mark.parametrize(
    ("rules", "at_once"),
    [
        (GERMAN, False),
        (FRENCH, True),
        (AMERICAN, False),
        (GERMAN.with_(alchemist_refund="immediate"), True),
        (FRENCH.with_(alchemist_refund="end"), False),
    ],
)
def test_the_alchemist_gets_his_gold_at_the_end_of_the_turn_or_at_once(rules: Rules, at_once: bool) -> None:
    g = table("Alchemist", {"gold": 2, "hand": ["Castle", "Temple"]}, rules=rules)
    play(g, "take gold", "build Castle")
    assert g.gold[0] == (4 if at_once else 0)
    assert texts(g, "build") == []
    play(g, "end turn")
    assert g.gold[0] == 4


@pytest.mark.rule("R83", "O-alchemist_refund")
@pytest.mark.parametrize(("refund", "offered"), [("end", False), ("immediate", True)])
def test_gold_that_comes_back_at_once_pays_for_more_in_the_same_turn(refund: str, offered: bool) -> None:
    g = table("Alchemist", {"gold": 2, "hand": ["Castle"], "city": ["Smithy"]}, rules=GERMAN.with_(alchemist_refund=refund))
    play(g, "take gold", "build Castle")
    assert ("smithy" in g.legal()) is offered


@pytest.mark.rule("R84", "R-ALC-1")
@pytest.mark.parametrize(("rules", "price"), [(GERMAN, 3), (FRENCH, 3), (AMERICAN, 2)])
def test_what_the_alchemist_pays_the_smithy_does_not_come_back(rules: Rules, price: int) -> None:
    g = table("Alchemist", {"gold": 4, "hand": ["Temple"], "city": ["Smithy"]}, rules=rules)
    play(g, "take gold", "smithy", "build Temple", "end turn")
    assert g.gold[0] == 6 - price


@pytest.mark.rule("R84", "R-TAX-3", "R-ALC-1")
@every_edition
def test_the_tax_the_alchemist_pays_does_not_come_back(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 2, "hand": ["Docks"]}, {"roles": ["Tax Collector"]}, rules=rules)
    play(g, "take gold", "build Docks", "end turn")
    assert tuple(g.gold)[:2] == (3, 1)


# --- Navigator --------------------------------------------------------------


@pytest.mark.rule("R85", "R-NAV")
@every_edition
def test_a_navigator_who_declines_his_bonus_still_cannot_build(rules: Rules) -> None:
    g = table("Navigator", {"gold": 5, "hand": ["Temple"]}, rules=rules)
    assert texts(g, "build") == []
    play(g, "take gold")
    assert sorted(g.legal()) == ["draw 4 cards", "end turn", "take 4 gold"]
    play(g, "end turn")
    assert g.gold[0] == 7
    assert g.hand(0) == ["Temple"]


@pytest.mark.rule("R86", "X-28")
@pytest.mark.parametrize(("rules", "left"), [(GERMAN, True), (FRENCH, False), (AMERICAN, True)])
def test_in_the_french_edition_the_navigators_turn_is_over_after_his_bonus(rules: Rules, left: bool) -> None:
    g = table("Navigator", {"hand": ["Temple"], "city": ["Laboratory", "Smithy"]}, rules=rules)
    play(g, "take gold", "take 4 gold")
    assert g.gold[0] == 6
    assert sorted(g.legal()) == (["end turn", "laboratory Temple", "smithy"] if left else ["end turn"])


# --- Diplomat ---------------------------------------------------------------


@pytest.mark.rule("R87", "R-DIP-2")
@every_edition
def test_for_a_dearer_district_the_diplomat_pays_the_difference_to_its_owner(rules: Rules) -> None:
    g = table("Diplomat", {"gold": 1, "city": ["Temple"]}, {"gold": 2, "city": ["Manor"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "Temple", "Manor", 1)
    assert outcome(g) == ((1, 4, 0, 0), [["Manor"], ["Temple"], [], ["Tavern", "Watchtower"]])


@pytest.mark.rule("R87", "R-DIP-2", "I29")
@every_edition
@pytest.mark.parametrize(("gold", "affordable"), [(0, ["Church", "Manor"]), (1, ["Church", "Manor", "Castle"])])
def test_the_diplomat_must_have_the_difference(rules: Rules, gold: int, affordable: list[str]) -> None:
    g = table("Diplomat", {"gold": gold, "city": ["Temple"]}, {"city": ["Manor", "Castle", "Palace", "Church"]}, rules=rules)
    play(g, "take gold")
    assert sorted(exchanges(g, "Temple")) == sorted(f"exchange for {name} of player 1" for name in affordable)


@pytest.mark.rule("R88", "R-DIP-2")
@every_edition
def test_for_a_cheaper_district_the_diplomat_gets_nothing_back(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["Palace"]}, {"gold": 3, "city": ["Temple"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "Palace", "Temple", 1)
    assert outcome(g) == ((2, 3, 0, 0), [["Temple"], ["Palace"], [], ["Tavern", "Watchtower"]])


@pytest.mark.rule("R89", "R-GEN", "D-UNIVERSITY", "D-DRAGON")
@every_edition
@pytest.mark.parametrize("district", ["University", "Dragon Gate"])
def test_the_diplomat_reckons_university_and_dragon_gate_at_six(rules: Rules, district: str) -> None:
    g = table("Diplomat", {"city": ["Palace"]}, {"city": [district]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "Palace", district, 1)
    assert outcome(g) == ((1, 1, 0, 0), [[district], ["Palace"], [], ["Tavern", "Watchtower"]])


@pytest.mark.rule("R89", "D-UNIVERSITY", "D-DRAGON")
@every_edition
def test_a_university_given_away_counts_six(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["University"]}, {"city": ["Palace*", "Library*"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "University", "Library*", 1)
    assert tuple(g.gold) == (1, 1, 0, 0)


@pytest.mark.rule("R90", "R-DIP-3", "X-20", "D-WALL")
@every_edition
def test_the_great_wall_of_the_other_player_raises_the_diplomats_price_by_one(rules: Rules) -> None:
    g = table("Diplomat", {"gold": 1, "city": ["Temple"]}, {"gold": 1, "city": ["Manor", "Great Wall"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "Temple", "Manor", 1)
    assert outcome(g) == ((0, 4, 0, 0), [["Manor"], ["Temple", "Great Wall"], [], ["Tavern", "Watchtower"]])


@pytest.mark.rule("R90", "R-DIP-3", "X-20", "D-WALL")
@every_edition
def test_behind_a_great_wall_an_exchange_of_equals_costs_one(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["Manor"]}, {"city": ["Docks", "Great Wall"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "Manor", "Docks", 1)
    assert tuple(g.gold) == (1, 1, 0, 0)


@pytest.mark.rule("R90", "X-20", "D-WALL")
@every_edition
def test_the_great_wall_of_the_diplomat_does_not_raise_what_he_gives(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["Temple", "Great Wall"]}, {"city": ["Manor"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "Temple", "Manor", 1)
    assert tuple(g.gold) == (0, 2, 0, 0)


@pytest.mark.rule("R91", "R-DIP-3", "D-KEEP")
@every_edition
def test_the_diplomat_cannot_take_the_keep_but_may_give_his_own(rules: Rules) -> None:
    g = table("Diplomat", {"gold": 5, "city": ["Keep"]}, {"city": ["Keep", "Manor"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    names = ["Manor of player 1", "Tavern of player 3", "Watchtower of player 3"]
    expected = [name for name in names if rules.duplicates_allowed or "player 1" not in name]  # the second Keep would be a duplicate
    assert sorted(exchanges(g, "Keep")) == [f"exchange for {name}" for name in expected]


@pytest.mark.rule("R92", "R-DIP-3", "R-BISHOP")
@every_edition
@pytest.mark.parametrize("murdered", [None, "Bishop"])
def test_the_diplomat_exchanges_with_a_bishop_only_if_he_was_murdered(rules: Rules, murdered: str | None) -> None:
    position: dict[str, Any] = {"murdered": murdered} if murdered else {}
    bishop = {"roles": ["Bishop"], "city": ["Manor"]}
    g = table("Diplomat", {"gold": 5, "city": ["Docks"]}, bishop, {}, BYSTANDER, rules=rules, **position)
    play(g, "take gold")
    assert ("exchange for Manor of player 1" in exchanges(g, "Docks")) is bool(murdered)
    assert "exchange for Tavern of player 3" in exchanges(g, "Docks")


@pytest.mark.rule("R93", "R-DIP-4", "O-diplomat_may_target_complete_city")
@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        (GERMAN, True),
        (FRENCH, True),
        (AMERICAN, False),
        (GERMAN.with_(diplomat_may_target_complete_city=False), False),
        (AMERICAN.with_(diplomat_may_target_complete_city=True), True),
    ],
)
def test_the_diplomat_may_or_may_not_exchange_with_a_complete_city(rules: Rules, allowed: bool) -> None:
    g = table("Diplomat", {"gold": 5, "city": ["Docks"]}, {"city": EIGHT}, {}, {"city": ["Tavern", "Harbor"]}, rules=rules)
    play(g, "take gold")
    expected = [f"exchange for {name} of player 1" for name in EIGHT] if allowed else []
    assert sorted(exchanges(g, "Docks")) == sorted([*expected, "exchange for Tavern of player 3", "exchange for Harbor of player 3"])


@pytest.mark.rule("R94")
@every_edition
def test_a_diplomat_with_a_complete_city_may_give_one_of_its_districts(rules: Rules) -> None:
    g = table("Diplomat", {"city": EIGHT}, {"city": ["Docks"]}, rules=rules)
    play(g, "take gold")
    exchange(g, "Prison", "Docks", 1)
    assert outcome(g) == ((1, 1, 0, 0), [[*EIGHT[:6], "Docks", "Watchtower"], ["Prison"], [], []])
    finish(g)
    assert g.over
    assert g.scores()[0] == 16 + 1 + 4


@pytest.mark.rule("R95", "R-DIP-6", "O-diplomat_no_duplicates")
@pytest.mark.parametrize(
    ("rules", "banned"),
    [
        (GERMAN, False),
        (FRENCH, True),
        (AMERICAN, True),
        (GERMAN.with_(diplomat_no_duplicates=True), True),
        (FRENCH.with_(diplomat_no_duplicates=False), False),
    ],
)
def test_an_exchange_may_or_may_not_leave_a_duplicate_in_the_diplomats_city(rules: Rules, banned: bool) -> None:
    g = table("Diplomat", {"gold": 5, "city": ["Temple", "Manor"]}, {"city": ["Manor"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    assert ("exchange for Manor of player 1" in exchanges(g, "Temple")) is not banned
    assert "exchange for Tavern of player 3" in exchanges(g, "Temple")


@pytest.mark.rule("R95", "R-DIP-6", "O-diplomat_no_duplicates")
@pytest.mark.parametrize(("rules", "banned"), [(GERMAN, False), (FRENCH, True), (AMERICAN, True)])
def test_an_exchange_may_or_may_not_leave_a_duplicate_in_the_other_city(rules: Rules, banned: bool) -> None:
    g = table("Diplomat", {"gold": 5, "city": ["Temple"]}, {"city": ["Manor", "Temple"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    assert ("exchange for Manor of player 1" in exchanges(g, "Temple")) is not banned
    assert "exchange for Temple of player 1" in exchanges(g, "Temple")  # one each, before and after


@pytest.mark.rule("R96", "R-DIP-5", "X-28", "O-diplomat_timing")
@pytest.mark.parametrize(
    ("rules", "any_time"),
    [
        (GERMAN, True),
        (FRENCH, True),
        (AMERICAN, False),
        (GERMAN.with_(diplomat_timing="end_of_turn"), False),
        (AMERICAN.with_(diplomat_timing="any", power_before_action=True), True),
    ],
)
def test_the_diplomat_exchanges_at_any_time_or_at_the_end_of_his_turn(rules: Rules, any_time: bool) -> None:
    me = {"gold": 3, "hand": ["Church"], "city": ["Manor", "Prison"]}
    g = table("Diplomat", me, {"city": ["Castle"]}, {}, BYSTANDER, rules=rules)
    assert bool(texts(g, "offer")) is any_time
    play(g, "take gold")
    assert sorted(texts(g, "offer")) == ["offer Manor", "offer Prison"]
    exchange(g, "Manor", "Castle", 1)
    assert sorted(g.legal()) == (["build Church", "end turn", "income"] if any_time else ["end turn"])


@pytest.mark.rule("R97", "R-DIP-1", "R-DIP-5")
@pytest.mark.parametrize("rules", [GERMAN, FRENCH])
def test_a_red_district_exchanged_first_pays_income_in_the_same_turn(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["Docks", "Prison"]}, {"city": ["Battlefield"]}, rules=rules)
    exchange(g, "Docks", "Battlefield", 1)
    play(g, "income")
    assert g.gold[0] == 2


@pytest.mark.rule("R98", "S-7", "D-GRAVEYARD")
@pytest.mark.parametrize(("rules", "out"), [(GERMAN, True), (FRENCH, True), (AMERICAN, False)])
def test_the_graveyard_leaves_the_deck_with_the_diplomat(rules: Rules, out: bool) -> None:
    assert rules.deck["Graveyard"] == 1
    with_diplomat = with_roles(rules, "Diplomat")
    assert ("Graveyard" not in with_diplomat.deck) is out
    assert ("Graveyard" in with_diplomat.left_out) is out


@pytest.mark.rule("R99", "R104", "R-ART-2", "R-ART-3")
@every_edition
def test_a_beautified_district_costs_the_diplomat_one_more_and_keeps_its_coin(rules: Rules) -> None:
    g = table("Diplomat", {"gold": 1, "city": ["Temple"]}, {"city": ["Manor*"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "Temple", "Manor*", 1)
    assert outcome(g) == ((0, 3, 0, 0), [["Manor*"], ["Temple"], [], ["Tavern", "Watchtower"]])


@pytest.mark.rule("R99", "R-ART-2", "R-ART-3")
@every_edition
def test_a_beautified_district_given_away_counts_one_more_and_keeps_its_coin(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["Temple*"]}, {"city": ["Manor"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "Temple*", "Manor", 1)
    assert outcome(g) == ((1, 1, 0, 0), [["Manor"], ["Temple*"], [], ["Tavern", "Watchtower"]])


@pytest.mark.rule("R100", "X-30", "D-MUSEUM")
@every_edition
def test_the_cards_under_a_museum_go_along_in_an_exchange(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["Castle"]}, {"city": ["Museum"], "museum": 3}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    exchange(g, "Castle", "Museum", 1)
    assert (g.museum(0), g.museum(1)) == (3, 0)
    assert tuple(g.scores())[:2] == (4 + 3, 4)


@pytest.mark.rule("R100", "X-30", "D-MUSEUM")
@pytest.mark.parametrize(("rules", "deck", "discard"), [(GERMAN, 0, 4), (FRENCH, 4, 0), (AMERICAN, 4, 0)])
def test_the_cards_under_a_destroyed_museum_are_discarded(rules: Rules, deck: int, discard: int) -> None:
    g = table("Warlord", {"gold": 1}, {"city": ["Museum"], "museum": 3}, rules=rules)
    play(g, "take gold")
    before = g.deck_size
    play(g, "destroy Museum of player 1")
    assert g.museum(1) == 0
    assert (g.deck_size - before, g.discard_size) == (deck, discard)
    assert g.scores()[1] == 0


@pytest.mark.rule("R101", "D-QUARRY")
@pytest.mark.parametrize("rules", [FRENCH, AMERICAN])
def test_the_quarry_does_not_let_the_diplomat_take_a_duplicate(rules: Rules) -> None:
    g = table("Diplomat", {"gold": 5, "city": ["Quarry", "Temple", "Manor"]}, {"city": ["Manor"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    assert "exchange for Manor of player 1" not in exchanges(g, "Temple")
    assert "exchange for Manor of player 1" in exchanges(g, "Manor")


@pytest.mark.rule("R-DIP-6", "X-10")
@pytest.mark.parametrize("rules", [FRENCH, AMERICAN])
def test_duplicates_that_stand_already_do_not_hinder_an_exchange_of_other_districts(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["Manor", "Manor", "Docks"]}, {"city": ["Temple", "Temple", "Market"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    assert "exchange for Market of player 1" in exchanges(g, "Docks")


@pytest.mark.rule("R102", "R-DIP-2")
@every_edition
def test_the_diplomat_exchanges_once_a_turn(rules: Rules) -> None:
    g = table("Diplomat", {"gold": 5, "city": ["Temple", "Manor"]}, {"city": ["Docks", "Castle"]}, {}, BYSTANDER, rules=rules)
    play(g, "take gold")
    assert sorted(texts(g, "offer")) == ["offer Manor", "offer Temple"]
    exchange(g, "Temple", "Docks", 1)
    assert texts(g, "offer") == []


# --- Artist -----------------------------------------------------------------


@pytest.mark.rule("R103", "R-ART-1")
@every_edition
def test_a_district_carries_one_coin_at_most_ever(rules: Rules) -> None:
    g = table("Artist", {"gold": 5, "city": ["Manor*", "Temple"]}, players=5, rules=rules)
    play(g, "take gold")
    assert texts(g, "beautify") == ["beautify Temple"]
    play(g, "beautify Temple")
    assert texts(g, "beautify") == []
    assert g.gold[0] == 6
    assert g.city(0) == ["Manor*", "Temple*"]


@pytest.mark.rule("R104", "R-ART-2")
@every_edition
def test_a_beautified_district_scores_one_more_and_costs_the_warlord_one_more(rules: Rules) -> None:
    g = table("Warlord", {"gold": 1}, {"city": ["Manor*", "Castle"]}, rules=rules)
    assert g.scores()[1] == 3 + 1 + 4
    play(g, "take gold", "destroy Manor* of player 1")
    assert outcome(g) == ((0, 0, 0, 0), [[], ["Castle"], [], []])
    assert g.scores()[1] == 4


@pytest.mark.rule("R104", "R-ART-2")
@every_edition
def test_a_warlord_who_lacks_the_gold_for_the_coin_cannot_destroy_the_beautified_district(rules: Rules) -> None:
    g = table("Warlord", {}, {"city": ["Manor*", "Docks"]}, rules=rules)
    play(g, "take gold")
    assert texts(g, "destroy") == ["destroy Docks of player 1"]


@pytest.mark.rule("R105", "R-ART-3")
@every_edition
def test_the_coin_of_a_destroyed_district_goes_to_the_bank(rules: Rules) -> None:
    g = table("Warlord", {"gold": 4}, {"gold": 1, "city": ["Manor*"]}, {"gold": 2}, rules=rules)
    play(g, "take gold", "destroy Manor* of player 1")
    assert tuple(g.gold) == (3, 1, 2, 0)


# --- Queen ------------------------------------------------------------------


@pytest.mark.rule("R106", "R-QUEEN-2", "X-13")
@every_edition
@pytest.mark.parametrize("seat", [1, 4])
def test_the_queen_beside_a_murdered_king_gets_her_gold_after_her_turn(rules: Rules, seat: int) -> None:
    others = [{"roles": ["King"]} if n == seat else {} for n in range(1, 5)]
    g = table("Queen", {}, *others, rules=rules, crown=3, murdered="King")
    assert g.gold[0] == 0
    play(g, "take gold")
    assert g.gold[0] == 2
    end_turn(g)
    assert g.gold[0] == 5


@pytest.mark.rule("R106", "R-QUEEN-2")
@every_edition
def test_the_queen_apart_from_a_murdered_king_gets_nothing(rules: Rules) -> None:
    g = table("Queen", {}, {}, {"roles": ["King"]}, players=5, rules=rules, crown=3, murdered="King")
    play(g, "take gold")
    end_turn(g)
    assert g.gold[0] == 2


@pytest.mark.rule("R107", "R-QUEEN-3")
@every_edition
@pytest.mark.parametrize("city", [[], ["Hospital"]])
def test_a_murdered_queen_gets_nothing(rules: Rules, city: list[str]) -> None:
    g = table("Warlord", {}, {"roles": ["Queen"], "city": city}, {"roles": ["King"]}, players=5, rules=rules, murdered="Queen")
    play(g, "take gold", "end turn")
    if city:
        assert g.question == "ACTION"
        play(g, "take gold")
    assert g.question == "DRAFT"
    assert g.gold[1] == (2 if city else 0)


def with_emperor(rules: Rules, *others: dict[str, Any], crown: int, bound_to: str | None = None) -> Game:
    """The Queen is called in a game with the Emperor; the table warns, once."""
    if bound_to:
        rules = rules.with_(queen_bound_to=bound_to)
    with pytest.warns(UserWarning, match="R-QUEEN-4"):
        return table("Queen", {}, *others, players=5, also=("Emperor",), rules=rules, crown=crown)


@pytest.mark.rule("R108", "R-QUEEN-4", "X-19", "O-queen_bound_to")
@pytest.mark.parametrize(("rules", "bound_to"), [(GERMAN, None), (FRENCH, "crown"), (AMERICAN, "crown")])
@pytest.mark.parametrize(("crown", "gold"), [(0, 0), (1, 3), (2, 0), (3, 0), (4, 3)])
def test_bound_to_the_crown_the_queen_earns_beside_its_holder(rules: Rules, bound_to: str | None, crown: int, gold: int) -> None:
    chosen = with_emperor(rules, {}, {"roles": ["Emperor"]}, crown=crown, bound_to=bound_to)
    assert chosen.gold[0] == gold
    nobody = with_emperor(rules, crown=crown, bound_to=bound_to)
    assert nobody.gold[0] == gold


@pytest.mark.rule("R108", "R-QUEEN-4", "O-queen_bound_to")
@pytest.mark.parametrize(("rules", "bound_to"), [(FRENCH, None), (AMERICAN, None), (GERMAN, "card")])
@pytest.mark.parametrize(("seat", "gold"), [(1, 3), (2, 0), (3, 0), (4, 3)])
def test_bound_to_the_card_the_queen_earns_beside_the_emperor_himself(rules: Rules, bound_to: str | None, seat: int, gold: int) -> None:
    others = [{"roles": ["Emperor"]} if n == seat else {} for n in range(1, 5)]
    for crown in range(5):
        assert with_emperor(rules, *others, crown=crown, bound_to=bound_to).gold[0] == gold


@pytest.mark.rule("R108", "O-queen_bound_to")
@every_edition
def test_bound_to_the_king_alone_the_queen_earns_nothing_from_the_emperor(rules: Rules) -> None:
    g = with_emperor(rules, {"roles": ["Emperor"]}, crown=4, bound_to="king_only")
    assert g.gold[0] == 0


@pytest.mark.rule("R108", "R-QUEEN-1", "O-queen_bound_to")
@pytest.mark.parametrize("bound_to", ["king_only", "card", "crown"])
@pytest.mark.parametrize(("seat", "gold"), [(1, 3), (2, 0), (3, 0), (4, 3)])
def test_with_the_king_in_the_game_the_queen_earns_beside_the_king_whatever_she_is_bound_to(bound_to: str, seat: int, gold: int) -> None:
    others = [{"roles": ["King"]} if n == seat else {} for n in range(1, 5)]
    g = table("Queen", {}, *others, rules=GERMAN.with_(queen_bound_to=bound_to), crown=seat)
    assert g.gold[0] == gold


@pytest.mark.rule("R109", "S-5")
@every_edition
def test_the_queen_needs_five_players(rules: Rules) -> None:
    with pytest.raises(ValueError, match="Queen needs five or more players, not 4"):
        with_roles(rules, "Queen")
    assert "Queen" in with_roles(rules, "Queen", players=5).roles
