"""The unique districts of the base game and the fifteen of The Dark City, with their options."""

from typing import Any

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Game, Rules
from citadels_env.cards import NEW_DISTRICTS
from role_helpers import every_edition, with_roles
from rules_helpers import at, finish, play, reach, texts
from scenes import EIGHT, SEVEN, exchanges, outcome, table

FOUR = ["Manor", "Temple", "Tavern", "Watchtower"]  # one of each colour but purple; 6 points


def score(*city: str, rules: Rules = GERMAN, **seat: object) -> int:
    """The points of a city as the game stands."""
    return int(table("Merchant", {}, {"city": list(city), **seat}, rules=rules).scores()[1])


def builds_for(district: str, rules: Rules, city: list[str] | None = None) -> int:
    """What the Magician really pays for `district`."""
    g = table("Magician", {"gold": 8, "hand": [district], "city": city or []}, rules=rules)
    play(g, "take gold", f"build {district}")
    return 10 - int(g.gold[0])


# --- base uniques -----------------------------------------------------------


@pytest.mark.rule("D-HAUNTED", "B-SCORE")
@every_edition
def test_the_haunted_city_may_stand_for_the_colour_that_is_missing(rules: Rules) -> None:
    assert score("Haunted City", rules=rules) == 2
    assert score("Manor", "Temple", "Tavern", "Keep", "Haunted City", rules=rules) == 3 + 1 + 1 + 3 + 2 + 3
    assert score(*FOUR, "Haunted City", rules=rules) == 6 + 2 + 3
    assert score("Manor", "Temple", "Tavern", "Haunted City", rules=rules) == 3 + 1 + 1 + 2
    assert score("Manor", "Temple", "Keep", "Haunted City", rules=rules) == 3 + 1 + 3 + 2


@pytest.mark.rule("D-HAUNTED", "O-haunted_city_not_in_last_round")
@pytest.mark.parametrize(
    ("rules", "counts"), [(GERMAN, True), (FRENCH, False), (AMERICAN, False), (GERMAN.with_(haunted_city_not_in_last_round=True), False)]
)
def test_a_haunted_city_built_in_the_last_round_may_or_may_not_change_its_colour(rules: Rules, counts: bool) -> None:
    me = {"hand": ["Haunted City"], "city": ["Manor", "Temple", "Tavern", "Keep"]}
    g = table("Merchant", me, {"city": EIGHT}, rules=rules)
    play(g, "take gold", "build Haunted City")
    finish(g)
    assert g.over
    assert g.scores()[0] == 10 + (3 if counts else 0)


@pytest.mark.rule("D-HAUNTED", "O-haunted_city_not_in_last_round")
@every_edition
def test_a_haunted_city_built_in_the_last_round_is_purple_all_the_same(rules: Rules) -> None:
    g = table("Merchant", {"hand": ["Haunted City"], "city": FOUR}, {"city": EIGHT}, rules=rules)
    play(g, "take gold", "build Haunted City")
    finish(g)
    assert g.scores()[0] == 6 + 2 + 3


@pytest.mark.rule("D-HAUNTED", "O-haunted_city_not_in_last_round")
@every_edition
def test_a_haunted_city_built_before_the_last_round_changes_its_colour(rules: Rules) -> None:
    g = table("Merchant", {"hand": ["Haunted City"], "city": ["Manor", "Temple", "Tavern", "Keep"]}, rules=rules)
    play(g, "take gold", "build Haunted City")
    finish(g)
    assert not g.over
    assert g.scores()[0] == 10 + 3


@pytest.mark.rule("D-KEEP", "R20")
@every_edition
def test_the_warlord_cannot_destroy_the_keep(rules: Rules) -> None:
    g = table("Warlord", {"gold": 9}, {"city": ["Keep", "Watchtower"]}, rules=rules)
    play(g, "take gold")
    assert texts(g, "destroy") == ["destroy Watchtower of player 1"]


@pytest.mark.rule("D-KEEP", "R91")
@every_edition
def test_the_diplomat_cannot_take_the_keep(rules: Rules) -> None:
    g = table("Diplomat", {"gold": 9, "city": ["Manor"]}, {"city": ["Keep", "Watchtower", "Tavern"]}, rules=rules)
    play(g, "take gold")
    assert sorted(exchanges(g, "Manor")) == ["exchange for Tavern of player 1", "exchange for Watchtower of player 1"]


@pytest.mark.rule("D-KEEP", "O-keep_copies")
@every_edition
def test_the_deck_holds_one_or_two_keeps(rules: Rules) -> None:
    assert rules.deck["Keep"] == 2
    assert rules.with_(keep_copies=1).deck["Keep"] == 1


@pytest.mark.rule("D-LAB", "O-laboratory_gold")
@pytest.mark.parametrize(("rules", "gold"), [(GERMAN, 1), (FRENCH, 1), (AMERICAN, 1), (FRENCH.with_(laboratory_gold=2), 2)])
def test_the_laboratory_turns_one_card_a_turn_into_gold(rules: Rules, gold: int) -> None:
    g = table("Magician", {"hand": ["Manor", "Temple"], "city": ["Laboratory"]}, rules=rules)
    assert texts(g, "laboratory") == ["laboratory Manor", "laboratory Temple"]
    cards = g.deck_size + g.discard_size
    play(g, "laboratory Manor")
    assert (g.gold[0], g.hand(0)) == (gold, ["Temple"])
    assert g.deck_size + g.discard_size == cards + 1
    assert texts(g, "laboratory") == []


@pytest.mark.rule("D-SMITHY", "O-smithy")
@pytest.mark.parametrize(("rules", "pay", "cards"), [(GERMAN, 3, 2), (FRENCH, 3, 3), (AMERICAN, 2, 3)])
def test_the_smithy_sells_cards_once_a_turn(rules: Rules, pay: int, cards: int) -> None:
    top = ["Castle", "Docks", "Manor", "Palace"]
    poor = table("Magician", {"gold": pay - 1, "city": ["Smithy"]}, rules=rules)
    assert "smithy" not in poor.legal()
    g = table("Magician", {"gold": pay + 7, "city": ["Smithy"]}, rules=rules, deck_top=top)
    play(g, "smithy")
    assert (g.gold[0], g.hand(0)) == (7, top[:cards])
    assert "smithy" not in g.legal()


@pytest.mark.rule("D-LAB", "D-SMITHY", "B-UNIQUE")
@every_edition
def test_laboratory_and_smithy_work_in_the_turn_they_are_built_and_only_for_their_owner(rules: Rules) -> None:
    g = table("Magician", {"gold": 9, "hand": ["Laboratory", "Manor"]}, {"city": ["Smithy"]}, rules=rules)
    assert texts(g, "laboratory") == []
    play(g, "take gold")
    assert "smithy" not in g.legal()
    play(g, "build Laboratory")
    assert texts(g, "laboratory") == ["laboratory Manor"]


@pytest.mark.rule("D-OBSERVATORY")
@every_edition
def test_the_observatory_shows_three_cards_of_which_one_is_kept(rules: Rules) -> None:
    g = table("Magician", {"city": ["Observatory"]}, rules=rules, deck_top=["Manor", "Castle", "Palace", "Temple"])
    cards = g.deck_size + g.discard_size
    play(g, "draw cards")
    assert sorted(g.legal()) == ["keep Castle", "keep Manor", "keep Palace"]
    play(g, "keep Palace")
    assert (g.question, g.hand(0)) == ("PLAY", ["Palace"])
    assert g.deck_size + g.discard_size == cards - 1


@pytest.mark.rule("D-OBSERVATORY", "O-observatory_cost")
@pytest.mark.parametrize("cost", [3, 4, 5])
@every_edition
def test_the_observatory_costs_and_scores_what_the_option_says(rules: Rules, cost: int) -> None:
    assert rules.cost("Observatory") == 5
    rules = rules.with_(observatory_cost=cost)
    assert builds_for("Observatory", rules) == cost
    assert score("Observatory", rules=rules) == cost
    g = table("Warlord", {"gold": 4}, {"city": ["Observatory"]}, rules=rules)
    play(g, "take gold", "destroy Observatory of player 1")
    assert g.gold[0] == 6 - (cost - 1)


@pytest.mark.rule("D-LIBRARY")
@every_edition
def test_with_the_library_both_drawn_cards_are_kept(rules: Rules) -> None:
    g = table("Magician", {"city": ["Library"]}, rules=rules, deck_top=["Manor", "Castle", "Palace"])
    play(g, "draw cards")
    assert (g.question, g.hand(0)) == ("PLAY", ["Castle", "Manor"])


@pytest.mark.rule("D-LIBRARY", "D-OBSERVATORY", "R30")
@every_edition
def test_with_library_and_observatory_two_of_three_cards_are_kept(rules: Rules) -> None:
    g = table("Magician", {"city": ["Library", "Observatory"]}, rules=rules, deck_top=["Manor", "Castle", "Palace", "Temple"])
    play(g, "draw cards", "keep Castle")
    assert sorted(g.legal()) == ["keep Manor", "keep Palace"]
    play(g, "keep Palace")
    assert (g.question, g.hand(0)) == ("PLAY", ["Castle", "Palace"])


@pytest.mark.rule("D-LIBRARY", "D-OBSERVATORY")
@every_edition
def test_without_library_and_observatory_one_of_two_cards_is_kept(rules: Rules) -> None:
    others = {"city": ["Library", "Observatory"]}
    g = table("Magician", {}, others, rules=rules, deck_top=["Manor", "Castle", "Palace"])
    play(g, "draw cards")
    assert sorted(g.legal()) == ["keep Castle", "keep Manor"]
    play(g, "keep Castle")
    assert (g.question, g.hand(0)) == ("PLAY", ["Castle"])


@pytest.mark.rule("D-GRAVEYARD")
@every_edition
@pytest.mark.parametrize("victim", [1, 2])
def test_the_graveyards_owner_may_take_any_destroyed_district_for_one_gold(rules: Rules, victim: int) -> None:
    others: list[dict[str, Any]] = [{"gold": 2, "city": ["Graveyard"]}, {}]
    others[victim - 1] = {**others[victim - 1], "city": [*others[victim - 1].get("city", []), "Temple"]}
    g = table("Warlord", {}, *others, rules=rules)
    play(g, "take gold")
    cards = g.deck_size + g.discard_size
    play(g, f"destroy Temple of player {victim}")
    assert (g.question, g.actor, sorted(g.legal())) == ("GRAVEYARD", 1, ["no", "yes"])
    declined = play(g.clone(), "no")
    assert (declined.gold[1], declined.hand(1), declined.actor) == (2, [], 0)
    assert declined.deck_size + declined.discard_size == cards + 1
    play(g, "yes")
    assert (g.gold[1], g.hand(1), g.city(1), g.actor) == (1, ["Temple"], ["Graveyard"], 0)
    assert g.deck_size + g.discard_size == cards


@pytest.mark.rule("D-GRAVEYARD", "R23", "R24")
@every_edition
def test_when_the_graveyard_is_not_asked(rules: Rules) -> None:
    rich, poor = {"gold": 2, "city": ["Graveyard", "Temple"]}, {"gold": 0, "city": ["Graveyard", "Temple"]}
    penniless = play(table("Warlord", {}, poor, rules=rules), "take gold", "destroy Temple of player 1")
    assert (penniless.question, penniless.hand(1)) == ("PLAY", [])
    itself = play(table("Warlord", {"gold": 2}, rich, rules=rules), "take gold", "destroy Graveyard of player 1")
    assert (itself.question, itself.hand(1), itself.gold[1]) == ("PLAY", [], 2)
    own = table("Warlord", {"gold": 2, "city": ["Graveyard"]}, {"city": ["Temple"]}, rules=rules)
    play(own, "take gold", "destroy Temple of player 1")
    assert (own.question, own.hand(0), own.gold[0]) == ("PLAY", [], 4)


@pytest.mark.rule("D-GRAVEYARD", "I6", "D-POWDER")
@every_edition
def test_the_graveyard_does_not_answer_the_powder_tower(rules: Rules) -> None:
    g = table("Magician", {"city": ["Powder Tower"]}, {"gold": 2, "city": ["Graveyard", "Temple"]}, rules=rules)
    play(g, "blow up Temple of player 1")
    assert (g.question, g.actor, g.hand(1), g.gold[1]) == ("PLAY", 0, [], 2)


@pytest.mark.rule("D-GRAVEYARD", "R-ART-3")
@every_edition
def test_a_district_from_the_graveyard_comes_back_without_its_coin(rules: Rules) -> None:
    g = table("Warlord", {}, {"gold": 2, "city": ["Graveyard", "Temple*"]}, rules=rules)
    play(g, "take gold", "destroy Temple* of player 1", "yes")
    assert (tuple(g.gold)[:2], g.hand(1)) == ((1, 1), ["Temple"])


@pytest.mark.rule("D-SCHOOL", "R29")
@every_edition
@pytest.mark.parametrize("role", ["Bishop", "Abbot", "Merchant", "Warlord", "Diplomat"])
def test_the_school_of_magic_pays_in_the_colour_of_its_owners_role(rules: Rules, role: str) -> None:
    g = table(role, {"city": ["School of Magic", "Manor", "Keep"]}, rules=rules)
    before = g.gold[0]
    play(g, "income")
    assert g.gold[0] == before + 1


@pytest.mark.rule("D-SCHOOL", "R29")
@every_edition
@pytest.mark.parametrize("role", ["King", "Magician", "Architect"])
def test_the_school_of_magic_pays_the_king_and_nobody_without_a_colour(rules: Rules, role: str) -> None:
    g = table(role, {"city": ["School of Magic", "Manor", "Keep"]}, rules=rules)
    if role == "King":
        assert play(g, "income").gold[0] == 2
    else:
        assert "income" not in g.legal()


@pytest.mark.rule("D-SCHOOL", "R29")
@every_edition
def test_the_school_of_magic_is_purple_in_the_bonus_for_five_colours(rules: Rules) -> None:
    assert score(*FOUR, "School of Magic", rules=rules) == 6 + 6 + 3
    assert score("Manor", "Temple", "Tavern", "Keep", "School of Magic", rules=rules) == 3 + 1 + 1 + 3 + 6


@pytest.mark.rule("D-UNIVERSITY")
@every_edition
def test_the_university_costs_six_and_scores_eight(rules: Rules) -> None:
    assert (builds_for("University", rules), score("University", rules=rules)) == (6, 8)


@pytest.mark.rule("D-DRAGON")
@every_edition
def test_the_dragon_gate_costs_six_and_scores_eight(rules: Rules) -> None:
    assert (builds_for("Dragon Gate", rules), score("Dragon Gate", rules=rules)) == (6, 8)


# --- costs of the fifteen ---------------------------------------------------

COSTS = {
    "Great Wall": 6, "Quarry": 5, "Wishing Well": 5, "Imperial Treasury": 4, "Map Room": 5, "Hospital": 6, "Poor House": 0,
    "Lighthouse": 3, "Park": 6, "Powder Tower": 3, "Ballroom": 6, "Factory": 5, "Museum": 4, "Bell Tower": 5, "Throne Room": 6,
}  # fmt: skip


@pytest.mark.rule("D-WALL", "D-QUARRY", "D-WELL", "D-TREASURY", "D-MAP", "D-HOSPITAL", "D-POOR", "D-LIGHT")
@pytest.mark.rule("D-PARK", "D-POWDER", "D-BALL", "D-FACTORY", "D-MUSEUM", "D-BELL", "D-THRONE")
@every_edition
@pytest.mark.parametrize("district", COSTS)
def test_each_new_district_costs_what_is_printed_on_it(rules: Rules, district: str) -> None:
    assert tuple(COSTS) == NEW_DISTRICTS
    dearer = {"Factory": 6, "Poor House": 5} if rules is AMERICAN else {}
    cost = dearer.get(district, COSTS[district])
    assert builds_for(district, rules) == cost
    assert score(district, rules=rules) == cost


# --- Great Wall -------------------------------------------------------------


@pytest.mark.rule("D-WALL", "R21", "X-20")
@every_edition
@pytest.mark.parametrize(("district", "price"), [("Temple", 1), ("Church", 2), ("Manor", 3), ("Manor*", 4)])
def test_behind_the_great_wall_the_warlord_pays_one_more(rules: Rules, district: str, price: int) -> None:
    g = table("Warlord", {"gold": 3}, {"city": ["Great Wall", district]}, rules=rules)
    play(g, "take gold", f"destroy {district} of player 1")
    assert outcome(g) == ((5 - price, 0, 0, 0), [[], ["Great Wall"], [], []])


@pytest.mark.rule("D-WALL")
@every_edition
def test_a_warlord_without_gold_for_the_great_wall_destroys_nothing_behind_it(rules: Rules) -> None:
    others = ({"city": ["Great Wall", "Manor"]}, {"city": ["Docks"]})
    g = table("Warlord", {}, *others, rules=rules)
    play(g, "take gold")
    assert texts(g, "destroy") == ["destroy Docks of player 2"]


@pytest.mark.rule("D-WALL", "R21", "O-great_wall_protects_itself")
@pytest.mark.parametrize(
    ("rules", "price"),
    [
        (GERMAN, 6),
        (FRENCH, 5),
        (AMERICAN, 5),
        (GERMAN.with_(great_wall_protects_itself=False), 5),
        (AMERICAN.with_(great_wall_protects_itself=True), 6),
    ],
)
def test_the_price_of_the_great_wall_itself_for_the_warlord(rules: Rules, price: int) -> None:
    g = table("Warlord", {"gold": 4}, {"city": ["Great Wall"]}, rules=rules)
    play(g, "take gold", "destroy Great Wall of player 1")
    assert g.gold[0] == 6 - price
    poor = table("Warlord", {"gold": price - 3}, {"city": ["Great Wall"]}, rules=rules)
    play(poor, "take gold")
    assert texts(poor, "destroy") == []


@pytest.mark.rule("D-WALL")
@every_edition
def test_the_warlords_own_great_wall_does_not_make_other_cities_dearer(rules: Rules) -> None:
    g = table("Warlord", {"city": ["Great Wall"]}, {"city": ["Manor"]}, rules=rules)
    play(g, "take gold", "destroy Manor of player 1")
    assert g.gold[0] == 0


# --- Quarry and Factory -----------------------------------------------------


@pytest.mark.rule("X-21", "D-QUARRY", "D-FACTORY")
@pytest.mark.parametrize(
    ("district", "city", "price"),
    [
        ("Keep", ["Keep", "Quarry", "Factory"], 1),
        ("Keep", ["Quarry", "Factory"], 2),
        ("Keep", ["Keep", "Factory"], 2),
        ("Keep", ["Keep", "Quarry"], 2),
        ("Poor House", ["Quarry", "Factory"], 0),
        ("Poor House", ["Factory"], 0),
        ("Haunted City", ["Quarry", "Factory"], 1),
    ],
)
def test_the_factory_lowers_the_price_first_then_the_quarry(district: str, city: list[str], price: int) -> None:
    assert builds_for(district, GERMAN, city) == price


@pytest.mark.rule("D-FACTORY")
@every_edition
@pytest.mark.parametrize(("district", "price"), [("Park", 5), ("Keep", 2), ("University", 5), ("Manor", 3), ("Temple", 1)])
def test_the_factory_makes_other_uniques_cheaper_and_nothing_else(rules: Rules, district: str, price: int) -> None:
    assert builds_for(district, rules, ["Factory"]) == price


@pytest.mark.rule("D-FACTORY", "O-factory_cost")
@pytest.mark.parametrize(
    ("rules", "cost"), [(GERMAN, 5), (FRENCH, 5), (AMERICAN, 6), (GERMAN.with_(factory_cost=6), 6), (AMERICAN.with_(factory_cost=5), 5)]
)
def test_what_the_factory_costs(rules: Rules, cost: int) -> None:
    assert (builds_for("Factory", rules), score("Factory", rules=rules)) == (cost, cost)


@pytest.mark.rule("D-FACTORY")
@every_edition
def test_the_lowered_price_decides_what_can_be_built(rules: Rules) -> None:
    for city, offered in (([], False), (["Factory"], True)):
        g = table("Magician", {"hand": ["Keep"], "city": city}, rules=rules)
        play(g, "take gold")
        assert ("build Keep" in g.legal()) is offered


# --- points at the end ------------------------------------------------------


@pytest.mark.rule("D-WELL")
@every_edition
def test_the_wishing_well_scores_one_for_each_other_unique(rules: Rules) -> None:
    assert score("Wishing Well", "Manor", "Temple", rules=rules) == 5 + 3 + 1
    assert score("Wishing Well", "Keep", "University", "Haunted City", "Manor", rules=rules) == 5 + 3 + 8 + 2 + 3 + 3


@pytest.mark.rule("D-TREASURY")
@every_edition
def test_the_imperial_treasury_scores_one_for_each_gold(rules: Rules) -> None:
    assert score("Imperial Treasury", gold=7, rules=rules) == 11
    assert score("Manor", gold=7, rules=rules) == 3


@pytest.mark.rule("D-TREASURY", "O-treasury_cost")
@pytest.mark.parametrize("cost", [4, 5])
@every_edition
def test_what_the_imperial_treasury_costs(rules: Rules, cost: int) -> None:
    assert rules.cost("Imperial Treasury") == 4
    rules = rules.with_(treasury_cost=cost)
    assert builds_for("Imperial Treasury", rules) == cost
    assert score("Imperial Treasury", rules=rules) == cost


@pytest.mark.rule("D-MAP")
@every_edition
def test_the_map_room_scores_one_for_each_card_in_hand(rules: Rules) -> None:
    assert score("Map Room", hand=["Manor", "Temple", "Keep"], rules=rules) == 8
    assert score("Manor", hand=["Manor", "Temple", "Keep"], rules=rules) == 3


@pytest.mark.rule("D-MUSEUM")
@every_edition
def test_the_museum_scores_one_for_each_card_under_it(rules: Rules) -> None:
    assert score("Museum", museum=3, rules=rules) == 7


@pytest.mark.rule("D-MUSEUM", "O-museum_once_per_turn")
@every_edition
def test_the_museum_takes_a_card_in_the_turn_it_is_built_and_the_card_leaves_the_hand(rules: Rules) -> None:
    g = table("Magician", {"gold": 2, "hand": ["Museum", "Manor", "Temple"]}, rules=rules)
    assert texts(g, "museum") == []
    play(g, "take gold", "build Museum", "museum Temple")
    assert (g.museum(0), g.hand(0)) == (1, ["Manor"])
    assert texts(g, "museum") == []
    assert g.scores()[0] == 5


@pytest.mark.rule("D-MUSEUM", "B-TWO-ROLES", "O-museum_once_per_turn")
def test_with_two_roles_the_museum_takes_a_card_in_each_of_the_two_turns() -> None:
    rules = with_roles(GERMAN, players=2, add_districts="all")
    players = [
        {"gold": 0, "hand": ["Manor", "Temple", "Docks"], "city": ["Museum"], "roles": ["Magician", "Merchant"]},
        {"gold": 0, "hand": [], "city": [], "roles": ["Thief", "Bishop"]},
    ]
    g = at(rules, players=players, called=2, crown=0)
    play(g, "museum Manor")
    assert texts(g, "museum") == []
    reach(g, "Merchant")
    assert sorted(texts(g, "museum")) == ["museum Docks", "museum Temple"]
    play(g, "museum Docks")
    assert (g.museum(0), g.hand(0)) == (2, ["Temple"])


# --- Hospital ---------------------------------------------------------------


@pytest.mark.rule("D-HOSPITAL")
@every_edition
def test_a_murdered_tax_collector_with_a_hospital_receives_no_tax(rules: Rules) -> None:
    me = {"city": ["Hospital"]}
    g = table("Tax Collector", me, {"roles": ["Merchant"], "hand": ["Temple"]}, rules=rules, murdered="Tax Collector")
    assert (g.actor, g.question) == (0, "ACTION")
    play(g, "take gold")
    reach(g, "Merchant")
    play(g, "take gold", "build Temple", "end turn")
    assert g.gold[0] == 2
    assert g.gold[1] == (1 if rules is GERMAN else 2)


@pytest.mark.rule("D-HOSPITAL", "I9", "X-15")
@every_edition
def test_library_and_observatory_serve_the_action_of_a_hospital_turn(rules: Rules) -> None:
    me = {"city": ["Hospital", "Library", "Observatory"]}
    g = table("Merchant", me, rules=rules, murdered="Merchant", deck_top=["Manor", "Castle", "Palace", "Temple"])
    play(g, "draw cards", "keep Castle", "keep Palace")
    assert g.hand(0) == ["Castle", "Palace"]


@pytest.mark.rule("D-HOSPITAL", "I10", "X-15", "O-hospital_turn_end_effects")
@pytest.mark.parametrize("works", [True, False])
@every_edition
def test_whether_poor_house_and_park_work_after_a_hospital_turn(rules: Rules, works: bool) -> None:
    rules = rules.with_(hospital_turn_end_effects=works)
    me = {"city": ["Hospital", "Poor House"]}
    g = table("Merchant", me, rules=rules, murdered="Merchant", deck_top=["Manor", "Manor"])
    play(g, "draw cards")
    assert (g.gold[0], g.hand(0)) == (1 if works else 0, ["Manor"])
    park = table("Merchant", {"city": ["Hospital", "Park"]}, rules=rules, murdered="Merchant")
    play(park, "take gold")
    assert (park.question == "PARK") is works
    assert park.gold[0] == 2


# --- Poor House and Park ----------------------------------------------------


@pytest.mark.rule("D-POOR")
@every_edition
@pytest.mark.parametrize(("built", "left", "gold"), [("Church", 0, 1), ("Temple", 1, 1), (None, 2, 2)])
def test_an_owner_of_the_poor_house_without_gold_takes_one_after_the_turn(rules: Rules, built: str | None, left: int, gold: int) -> None:
    g = table("Magician", {"hand": ["Church", "Temple"], "city": ["Poor House"]}, rules=rules)
    play(g, "take gold", *([f"build {built}"] if built else []))
    assert g.gold[0] == left
    play(g, "end turn")
    assert g.gold[0] == gold


@pytest.mark.rule("D-POOR")
@every_edition
def test_without_a_poor_house_a_player_without_gold_gets_nothing(rules: Rules) -> None:
    g = table("Magician", {"hand": ["Church"]}, {"city": ["Poor House"]}, rules=rules)
    play(g, "take gold", "build Church", "end turn")
    assert (g.gold[0], g.gold[1]) == (0, 0)


@pytest.mark.rule("D-POOR", "R-TAX-3", "R56", "R57")
@every_edition
def test_the_poor_house_pays_when_the_last_gold_went_to_the_tax_collector_and_is_not_taxed(rules: Rules) -> None:
    for hand, answer in ((["Temple"], "build Temple"), (["Church"], "build Church")):
        g = table("Magician", {"hand": hand, "city": ["Poor House"]}, {"roles": ["Tax Collector"]}, rules=rules)
        play(g, "take gold", answer, "end turn")
        assert g.gold[0] == 1
        assert g.gold[1] == (1 if hand == ["Temple"] else 0)


@pytest.mark.rule("D-POOR", "R59", "X-13", "O-alchemist_refund")
@pytest.mark.parametrize(("rules", "gold"), [(GERMAN, 3), (FRENCH, 2), (AMERICAN, 3)])
def test_the_poor_house_comes_before_the_alchemists_refund_at_the_end_of_the_turn(rules: Rules, gold: int) -> None:
    g = table("Alchemist", {"hand": ["Church"], "city": ["Poor House"]}, rules=rules)
    play(g, "take gold", "build Church", "end turn")
    assert g.gold[0] == gold


@pytest.mark.rule("D-POOR", "O-poor_house_cost")
@pytest.mark.parametrize("cost", [0, 4, 5, 6])
@every_edition
def test_the_poor_house_costs_and_scores_what_the_option_says(rules: Rules, cost: int) -> None:
    assert rules.cost("Poor House") == (5 if rules is AMERICAN else 0)
    rules = rules.with_(poor_house_cost=cost)
    assert (builds_for("Poor House", rules), score("Poor House", rules=rules)) == (cost, cost)
    for gold in (cost - 3, cost - 2):
        if gold >= 0:
            g = play(table("Magician", {"gold": gold, "hand": ["Poor House"]}, rules=rules), "take gold")
            assert ("build Poor House" in g.legal()) is (gold + 2 >= cost)


@pytest.mark.rule("D-POOR", "O-poor_house_cost")
@pytest.mark.parametrize("rules", [GERMAN, FRENCH])
def test_a_poor_house_for_nothing_is_built_without_gold_and_works_at_once(rules: Rules) -> None:
    g = table("Magician", {"hand": ["Poor House"]}, rules=rules, deck_top=["Manor", "Manor"])
    play(g, "draw cards", "build Poor House")
    assert (g.gold[0], g.city(0)) == (0, ["Poor House"])
    play(g, "end turn")
    assert g.gold[0] == 1


@pytest.mark.rule("D-POOR")
@pytest.mark.parametrize(("rules", "price"), [(GERMAN, 0), (FRENCH, 0), (AMERICAN, 4)])
def test_the_warlord_never_earns_by_destroying_the_poor_house(rules: Rules, price: int) -> None:
    g = table("Warlord", {"gold": 2}, {"city": ["Poor House"]}, rules=rules)
    play(g, "take gold", "destroy Poor House of player 1")
    assert g.gold[0] == 4 - price


@pytest.mark.rule("D-PARK")
@every_edition
def test_the_park_counts_cards_only_at_the_end_of_its_owners_turn(rules: Rules) -> None:
    g = table("Magician", {"hand": ["Temple"], "city": ["Park"]}, rules=rules, deck_top=["Palace", "Castle"])
    assert g.question == "PLAY"
    play(g, "take gold", "build Temple", "end turn")
    assert (g.question, g.actor) == ("PARK", 0)
    play(g, "yes")
    assert g.hand(0) == ["Castle", "Palace"]


@pytest.mark.rule("D-PARK", "I7", "I8")
@every_edition
def test_poor_house_and_park_work_side_by_side_after_the_tax(rules: Rules) -> None:
    me = {"hand": ["Temple"], "city": ["Park", "Poor House"]}
    g = table("Magician", me, {"roles": ["Tax Collector"]}, rules=rules, deck_top=["Palace", "Castle"])
    play(g, "take gold", "build Temple", "end turn", "yes")
    assert (g.gold[0], g.gold[1], g.hand(0)) == (1, 1, ["Castle", "Palace"])


# --- Lighthouse and Powder Tower --------------------------------------------


@pytest.mark.rule("D-LIGHT")
@every_edition
def test_the_card_from_the_lighthouse_is_gone_from_the_deck_and_may_be_built_by_an_architect(rules: Rules) -> None:
    g = table("Architect", {"gold": 4, "hand": ["Lighthouse"]}, rules=rules)
    play(g, "take gold", "build Lighthouse")
    assert (g.question, g.actor) == ("LIGHTHOUSE", 0)
    cards = g.deck_size
    play(g, "take Keep", "build Keep")
    assert (g.deck_size, g.city(0), g.gold[0]) == (cards - 1, ["Keep", "Lighthouse"], 0)


@pytest.mark.rule("D-POWDER")
@every_edition
def test_the_powder_tower_is_given_up_with_any_one_district_of_another_player(rules: Rules) -> None:
    others = ({"city": ["Manor*", "Keep"]}, {"city": ["Temple"]})
    g = table("Magician", {"city": ["Powder Tower", "Docks"]}, *others, rules=rules)
    expected = ["blow up Keep of player 1", "blow up Manor* of player 1", "blow up Temple of player 2"]
    assert sorted(texts(g, "blow up")) == expected
    play(g, "blow up Manor* of player 1")
    assert outcome(g) == ((0, 0, 0, 0), [["Docks"], ["Keep"], ["Temple"], []])
    assert texts(g, "blow up") == []


@pytest.mark.rule("D-POWDER")
@every_edition
def test_the_powder_tower_works_in_its_owners_turn_only_and_need_not_be_used(rules: Rules) -> None:
    g = table("Magician", {}, {"city": ["Powder Tower"]}, {"city": ["Temple"]}, rules=rules)
    assert texts(g, "blow up") == []
    owner = table("Magician", {"city": ["Powder Tower"]}, {"city": ["Temple"]}, rules=rules)
    play(owner, "take gold", "end turn")
    assert owner.city(0) == ["Powder Tower"]


@pytest.mark.rule("D-POWDER", "I32")
@every_edition
def test_blowing_up_the_powder_tower_of_a_complete_city_does_not_undo_the_end(rules: Rules) -> None:
    g = table("Magician", {"city": [*SEVEN, "Powder Tower"]}, {"city": ["Palace"]}, rules=rules)
    play(g, "blow up Palace of player 1")
    finish(g)
    assert g.over
    assert g.scores()[0] == 14 + 4


# --- Ballroom ---------------------------------------------------------------


def ballroom(role: str, rules: Rules = GERMAN, crown: int = 1, **me: object) -> Game:
    """The Ballroom stands in the city of seat 1."""
    return table(role, dict(me), {"city": ["Ballroom"]}, rules=rules, crown=crown)


@pytest.mark.rule("D-BALL", "O-ballroom")
@every_edition
def test_thanks_are_due_only_while_the_owner_of_the_ballroom_has_the_crown(rules: Rules) -> None:
    assert ballroom("Magician", rules, crown=1).question == "THANK"
    for crown in (0, 2, 3):
        assert ballroom("Magician", rules, crown=crown).question == "PLAY"


@pytest.mark.rule("D-BALL", "O-ballroom", "X-14")
@every_edition
def test_the_crowns_holder_need_not_thank(rules: Rules) -> None:
    g = table("Magician", {"city": ["Ballroom"]}, rules=rules, crown=0)
    assert (g.actor, g.question) == (0, "PLAY")


@pytest.mark.rule("D-BALL", "O-ballroom")
@every_edition
def test_thanks_given_always_are_not_asked_for(rules: Rules) -> None:
    g = ballroom("Magician", rules.with_(ballroom="auto"))
    assert (g.actor, g.question, g.turn_role) == (0, "PLAY", "Magician")
    play(g, "take gold")
    assert g.gold[0] == 2


@pytest.mark.rule("D-BALL", "I18", "O-ballroom", "O-ballroom_forget_probability")
@pytest.mark.parametrize("probability", [0.0, 0.5, 1.0])
@every_edition
def test_thanks_are_forgotten_with_the_probability_of_the_option(rules: Rules, probability: float) -> None:
    rules = rules.with_(ballroom="forget", ballroom_forget_probability=probability)
    others = ({"city": ["Ballroom"]}, {"roles": ["Warlord"]})
    roles = []
    for seed in range(40):
        g = table("Magician", {}, *others, rules=rules, crown=1, seed=seed)
        assert g.question != "THANK"
        roles.append(g.turn_role == "Magician")
    expected = {0.0: range(40, 41), 0.5: range(10, 31), 1.0: range(1)}[probability]
    assert sum(roles) in expected


@pytest.mark.rule("D-BALL", "X-14")
@every_edition
def test_a_king_who_does_not_thank_becomes_heir_at_the_end_of_the_round(rules: Rules) -> None:
    g = table("King", {"city": ["Manor"]}, {"city": ["Ballroom"]}, {"roles": ["Warlord"]}, rules=rules, crown=1)
    assert (g.crown, g.question) == (1, "THANK")
    play(g, "stay silent")
    assert (g.turn_role, g.crown) == ("Warlord", 1)
    finish(g, lambda g: g.question == "DRAFT")
    assert (g.crown, g.gold[0]) == (0, 0)


@pytest.mark.rule("D-BALL", "X-14")
@every_edition
def test_an_emperor_who_does_not_thank_leaves_the_crown(rules: Rules) -> None:
    g = ballroom("Emperor", rules, city=["Manor"])
    play(g, "stay silent")
    finish(g, lambda g: g.question == "DRAFT")
    assert (g.crown, g.gold[0]) == (1, 0)


@pytest.mark.rule("D-BALL", "X-14")
@every_edition
def test_a_bishop_who_does_not_thank_protects_his_city_all_the_same(rules: Rules) -> None:
    warlord = {"roles": ["Warlord"], "gold": 9}
    g = table("Bishop", {"city": ["Temple"]}, {"city": ["Ballroom", "Docks"]}, warlord, rules=rules, crown=1)
    play(g, "stay silent")
    reach(g, "Warlord")
    play(g, "thank", "take gold")
    assert sorted(texts(g, "destroy")) == ["destroy Ballroom of player 1", "destroy Docks of player 1"]


@pytest.mark.rule("D-BALL", "X-14")
@every_edition
def test_a_turn_lost_to_the_ballroom_has_no_effects_at_its_end(rules: Rules) -> None:
    g = ballroom("Magician", rules, city=["Poor House", "Park"])
    play(g, "stay silent")
    assert (g.turn_role, g.gold[0], g.hand(0)) == ("Architect", 0, [])
    finish(g)
    assert (g.gold[0], g.hand(0)) == (0, [])


@pytest.mark.rule("D-BALL", "X-14", "R-TAX-1")
@every_edition
def test_a_tax_collector_who_does_not_thank_is_paid_later_taxes(rules: Rules) -> None:
    merchant = {"roles": ["Merchant"], "hand": ["Temple"]}
    g = table("Tax Collector", {}, {"city": ["Ballroom"]}, merchant, rules=rules, crown=1)
    play(g, "stay silent")
    finish(g, lambda g: g.turn_role == "Merchant")
    play(g, "thank", "take gold", "build Temple", "end turn")
    assert g.gold[0] == 1


# --- Bell Tower -------------------------------------------------------------


@pytest.mark.rule("D-BELL")
@every_edition
def test_the_builder_of_the_bell_tower_decides_when_the_game_ends(rules: Rules) -> None:
    for end_at in (7, 8):
        g = table("Magician", {"gold": 3, "hand": ["Bell Tower"], "city": SEVEN[:6]}, rules=rules)
        play(g, "take gold", "build Bell Tower", f"end at {end_at}")
        assert g.districts_to_end == end_at
        finish(g)
        assert g.over is (end_at == 7)
        assert g.scores()[0] == 13 + 5 + (4 if end_at == 7 else 0)


@pytest.mark.rule("D-BELL")
@every_edition
def test_a_bell_tower_that_falls_brings_back_the_eighth_district(rules: Rules) -> None:
    g = table("Magician", {"city": ["Powder Tower"]}, {"city": ["Bell Tower"]}, rules=rules, end_at=7)
    play(g, "blow up Bell Tower of player 1")
    assert g.districts_to_end == 8


# --- Throne Room ------------------------------------------------------------


@pytest.mark.rule("D-THRONE", "I14")
@every_edition
def test_a_king_who_has_the_crown_already_moves_nothing(rules: Rules) -> None:
    g = table("King", {}, {"city": ["Throne Room"]}, rules=rules, crown=0)
    assert (g.crown, tuple(g.gold)) == (0, (0, 0, 0, 0))


@pytest.mark.rule("D-THRONE", "I16")
@every_edition
def test_the_throne_room_pays_its_owner_who_takes_the_crown(rules: Rules) -> None:
    g = table("King", {"city": ["Throne Room"]}, rules=rules, crown=2)
    assert (g.crown, tuple(g.gold)) == (0, (1, 0, 0, 0))


@pytest.mark.rule("D-THRONE", "I16")
@every_edition
def test_the_throne_room_pays_its_owner_who_loses_the_crown(rules: Rules) -> None:
    g = table("King", {}, {"city": ["Throne Room"]}, rules=rules, crown=1)
    assert (g.crown, tuple(g.gold)) == (0, (0, 1, 0, 0))


@pytest.mark.rule("D-THRONE", "I15", "O-throne_room_emperor_counts")
def test_a_crown_given_back_to_its_holder_did_not_move() -> None:
    g = table("Emperor", {}, {"city": ["Throne Room"]}, crown=2)
    play(g, "crown player 2")
    assert (g.crown, tuple(g.gold)) == (2, (0, 0, 0, 0))


@pytest.mark.rule("D-THRONE", "X-12", "R-EMP-4")
@pytest.mark.parametrize(("rules", "gold"), [(GERMAN, (0, 1)), (FRENCH, (1, 0)), (AMERICAN, (1, 0))])
def test_the_throne_room_pays_before_the_tribute(rules: Rules, gold: tuple[int, int]) -> None:
    g = table("Emperor", {}, {"city": ["Throne Room"]}, rules=rules, crown=2)
    play(g, "crown player 1")
    assert tuple(g.gold)[:2] == gold
    assert (g.actor, g.question) == (0, "PLAY")


@pytest.mark.rule("D-THRONE")
@every_edition
def test_without_a_throne_room_a_move_of_the_crown_pays_nobody(rules: Rules) -> None:
    g = table("King", {}, {"city": ["Palace"]}, rules=rules, crown=2)
    assert tuple(g.gold) == (0, 0, 0, 0)
