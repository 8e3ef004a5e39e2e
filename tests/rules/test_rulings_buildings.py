"""Rulings R110 to R132: the buildings of The Dark City."""

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Game, Rules
from role_helpers import every_edition, with_roles
from rules_helpers import end_turn, finish, play, reach, texts
from scenes import EIGHT, exchange, outcome, table

ARMED = {"city": ["Powder Tower"]}


# --- Powder Tower -----------------------------------------------------------


@pytest.mark.rule("R110", "D-POWDER")
@every_edition
def test_the_powder_tower_hits_the_bishops_city_and_the_keep(rules: Rules) -> None:
    g = table("Merchant", ARMED, {"roles": ["Bishop"], "city": ["Manor", "Keep"]}, {"city": ["Temple"]}, rules=rules)
    assert sorted(texts(g, "blow up")) == ["blow up Keep of player 1", "blow up Manor of player 1", "blow up Temple of player 2"]
    play(g, "blow up Keep of player 1")
    assert [g.city(seat) for seat in range(3)] == [[], ["Manor"], ["Temple"]]


@pytest.mark.rule("R111", "D-POWDER", "O-powder_tower_complete_city")
@pytest.mark.parametrize(
    ("rules", "hit"), [(GERMAN, True), (FRENCH, True), (AMERICAN, True), (GERMAN.with_(powder_tower_complete_city=False), False)]
)
def test_the_powder_tower_hits_a_complete_city_unless_the_option_says_otherwise(rules: Rules, hit: bool) -> None:
    g = table("Architect", ARMED, {"city": EIGHT}, {"city": ["Docks"]}, rules=rules)
    complete = [f"blow up {name} of player 1" for name in EIGHT] if hit else []
    assert sorted(texts(g, "blow up")) == sorted([*complete, "blow up Docks of player 2"])


@pytest.mark.rule("R112", "I31", "X-23")
@every_edition
def test_a_complete_city_that_was_blown_up_is_open_to_the_warlord_and_the_game_still_ends(rules: Rules) -> None:
    def game() -> Game:
        return table("Architect", ARMED, {"city": EIGHT}, {"roles": ["Warlord"], "gold": 9}, rules=rules)

    untouched = reach(game(), "Warlord")
    play(untouched, "take gold")
    assert "destroy Castle of player 1" not in untouched.legal()

    g = game()
    play(g, "blow up Manor of player 1")
    reach(g, "Warlord")
    play(g, "take gold")
    assert [text for text in texts(g, "destroy") if text.endswith("player 1")] == [f"destroy {name} of player 1" for name in EIGHT[1:]]
    play(g, "destroy Castle of player 1")
    finish(g)
    assert g.over
    assert g.first_completers == [1]
    assert g.scores()[1] == 16 - 3 - 4 + 4


@pytest.mark.rule("R113", "D-POWDER")
@every_edition
def test_a_powder_tower_may_be_blown_up_in_the_turn_it_is_built_for_nothing(rules: Rules) -> None:
    g = table("Merchant", {"gold": 1, "hand": ["Powder Tower"]}, {"city": ["Palace"]}, rules=rules)
    assert texts(g, "blow up") == []
    play(g, "take gold", "build Powder Tower")
    gold = g.gold[0]
    play(g, "blow up Palace of player 1")
    assert g.gold[0] == gold
    assert outcome(g)[1] == [[], [], [], []]


@pytest.mark.rule("R114", "D-POWDER")
@every_edition
def test_the_powder_tower_does_not_hit_its_owners_districts(rules: Rules) -> None:
    g = table("Merchant", {"city": ["Powder Tower", "Temple"]}, {"city": ["Manor"]}, rules=rules)
    assert texts(g, "blow up") == ["blow up Manor of player 1"]
    alone = table("Merchant", {"city": ["Powder Tower", "Temple"]}, rules=rules)
    assert texts(alone, "blow up") == []


@pytest.mark.rule("R115", "X-9", "D-POWDER")
@pytest.mark.parametrize(("rules", "deck", "discard"), [(GERMAN, 0, 2), (FRENCH, 2, 0), (AMERICAN, 2, 0)])
def test_powder_tower_and_victim_go_where_cards_are_discarded(rules: Rules, deck: int, discard: int) -> None:
    g = table("Merchant", ARMED, {"city": ["Manor"]}, rules=rules)
    before = (g.deck_size, g.discard_size)
    play(g, "blow up Manor of player 1")
    assert (g.deck_size - before[0], g.discard_size - before[1]) == (deck, discard)


# --- Hospital ---------------------------------------------------------------


@pytest.mark.rule("R116", "D-HOSPITAL", "X-15")
@every_edition
def test_the_murdered_owner_of_a_hospital_takes_gold_and_nothing_else(rules: Rules) -> None:
    me = {"gold": 5, "hand": ["Temple"], "city": ["Hospital", "Tavern", "Laboratory", "Smithy", "Museum", "Powder Tower"]}
    g = table("Merchant", me, {"city": ["Manor"]}, {"roles": ["Warlord"]}, rules=rules, murdered="Merchant")
    assert (g.turn_role, g.question) == ("Merchant", "ACTION")
    assert sorted(g.legal()) == ["draw cards", "take gold"]
    play(g, "take gold")
    assert g.turn_role == "Warlord"
    assert g.gold[0] == 7
    assert g.hand(0) == ["Temple"]


@pytest.mark.rule("R116", "D-HOSPITAL")
@every_edition
def test_the_murdered_owner_of_a_hospital_may_draw_two_cards_and_keep_one(rules: Rules) -> None:
    me = {"city": ["Hospital", "Tavern"]}
    g = table("Merchant", me, {}, {"roles": ["Warlord"]}, rules=rules, murdered="Merchant", deck_top=["Palace", "Docks", "Manor"])
    play(g, "draw cards")
    assert sorted(g.legal()) == ["keep Docks", "keep Palace"]
    play(g, "keep Docks")
    assert g.turn_role == "Warlord"
    assert (g.hand(0), g.gold[0]) == (["Docks"], 0)


@pytest.mark.rule("R116", "D-HOSPITAL")
@every_edition
def test_without_a_hospital_the_murdered_player_has_no_turn(rules: Rules) -> None:
    g = table("Merchant", {"city": ["Tavern"]}, {}, {"roles": ["Warlord"]}, rules=rules, murdered="Merchant")
    assert g.turn_role == "Warlord"
    assert g.gold[0] == 0


@pytest.mark.rule("R117", "S-7", "D-HOSPITAL")
@every_edition
def test_the_hospital_stays_out_of_the_deck_without_the_assassin(rules: Rules) -> None:
    rules = rules.with_(add_districts=("Hospital", "Park"))
    assert rules.deck["Hospital"] == 1
    assert rules.left_out == ()
    witch = with_roles(rules, "Witch")
    assert "Hospital" not in witch.deck
    assert witch.left_out == ("Hospital",)


# --- Lighthouse -------------------------------------------------------------


@pytest.mark.rule("R118", "D-LIGHT", "X-8")
@every_edition
def test_the_lighthouse_shows_the_whole_deck_once_and_gives_one_card(rules: Rules) -> None:
    g = table("Merchant", {"gold": 1, "hand": ["Lighthouse"]}, {"hand": ["Park"], "city": ["Library"]}, rules=rules)
    shown = set(rules.with_(add_districts="all").deck) - {"Lighthouse", "Park", "Library"}
    play(g, "take gold", "build Lighthouse")
    assert g.question == "LIGHTHOUSE"
    assert set(g.legal()) == {f"take {name}" for name in shown} | {"done"}
    before = g.deck_size
    play(g, "take Palace")
    assert g.hand(0) == ["Palace"]
    assert g.deck_size == before - 1
    assert g.question == "PLAY"


@pytest.mark.rule("R118", "D-LIGHT")
@every_edition
def test_the_deck_is_shuffled_after_the_search(rules: Rules) -> None:
    tops = set()
    for seed in range(12):
        me = {"gold": 1, "hand": ["Lighthouse"]}
        g = table("Merchant", me, {"roles": ["Architect"]}, rules=rules, seed=seed, deck_top=["Palace", "Fortress"])
        play(g, "take gold", "build Lighthouse", "done")
        reach(g, "Architect")
        tops.add(tuple(g.hand(1)) if g.hand(1) else tuple(sorted(play(g, "draw cards").legal())))
    assert len(tops) > 6


@pytest.mark.rule("R118", "X-8", "D-LIGHT")
@every_edition
def test_the_builder_of_the_lighthouse_may_take_no_card(rules: Rules) -> None:
    g = table("Merchant", {"gold": 1, "hand": ["Lighthouse"]}, rules=rules)
    play(g, "take gold", "build Lighthouse")
    before = g.deck_size
    play(g, "done")
    assert (g.hand(0), g.deck_size, g.question) == ([], before, "PLAY")


@pytest.mark.rule("R119", "D-LIGHT")
@every_edition
def test_a_lighthouse_taken_by_exchange_searches_nothing(rules: Rules) -> None:
    g = table("Diplomat", {"city": ["Docks"]}, {"city": ["Lighthouse"]}, rules=rules)
    play(g, "take gold")
    exchange(g, "Docks", "Lighthouse", 1)
    assert g.city(0) == ["Lighthouse"]
    assert g.question == "PLAY"
    assert g.hand(0) == []


# --- Museum, Wishing Well, Treasury -----------------------------------------


@pytest.mark.rule("R120", "D-MUSEUM", "O-museum_once_per_turn")
@pytest.mark.parametrize(("rules", "cards"), [(GERMAN, 1), (FRENCH, 1), (AMERICAN, 1), (GERMAN.with_(museum_once_per_turn=False), 3)])
def test_the_museum_takes_one_card_a_turn_unless_the_option_says_otherwise(rules: Rules, cards: int) -> None:
    g = table("Merchant", {"hand": ["Temple", "Manor", "Docks"], "city": ["Museum"]}, rules=rules)
    assert sorted(texts(g, "museum")) == ["museum Docks", "museum Manor", "museum Temple"]
    names = ["Docks", "Manor", "Temple"]
    for n, name in enumerate(names[:cards]):
        assert g.museum(0) == n
        play(g, f"museum {name}")
    assert texts(g, "museum") == []
    assert g.museum(0) == cards
    assert g.hand(0) == names[cards:]
    assert g.scores()[0] == 4 + cards


@pytest.mark.rule("R121", "D-WELL")
@every_edition
def test_the_wishing_well_does_not_count_itself(rules: Rules) -> None:
    alone = table("Merchant", {"city": ["Wishing Well", "Manor"]}, rules=rules)
    assert alone.scores()[0] == 5 + 3
    g = table("Merchant", {"city": ["Wishing Well", "Keep", "Park", "Temple"]}, rules=rules)
    assert g.scores()[0] == 5 + 3 + 6 + 1 + 2


@pytest.mark.rule("R122", "D-TREASURY")
@every_edition
def test_coins_on_districts_do_not_count_for_the_treasury(rules: Rules) -> None:
    g = table("Magician", {"gold": 5, "city": ["Imperial Treasury", "Manor*", "Temple*"]}, rules=rules)
    assert g.scores()[0] == 4 + (3 + 1) + (1 + 1) + 5


# --- Factory ----------------------------------------------------------------


@pytest.mark.rule("R123", "D-FACTORY")
@pytest.mark.parametrize(("rules", "cost"), [(GERMAN, 5), (FRENCH, 5), (AMERICAN, 6)])
def test_the_factory_pays_nothing_back_and_is_not_cheaper_itself(rules: Rules, cost: int) -> None:
    g = table("Merchant", {"gold": 6, "hand": ["Factory"], "city": ["Keep", "Library"]}, rules=rules)
    play(g, "take gold", "build Factory")
    bonus = 1 if rules is not GERMAN else 0  # the Merchant's own coin comes by itself
    assert g.gold[0] == 8 + bonus - cost


@pytest.mark.rule("R124", "D-FACTORY", "R22")
@every_edition
def test_scores_reckon_the_printed_cost_whatever_was_paid(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 4, "hand": ["Park"], "city": ["Factory"]}, rules=rules)
    play(g, "take gold")
    assert g.gold[0] == 6
    play(g, "build Park")
    if rules.alchemist_refund == "end":
        assert g.gold[0] == 1
    assert g.scores()[0] == rules.cost("Factory") + 6


@pytest.mark.rule("R124", "D-FACTORY", "R22")
@every_edition
def test_the_warlord_pays_by_the_printed_cost_in_a_city_with_a_factory_or_with_his_own(rules: Rules) -> None:
    g = table("Warlord", {"gold": 3, "city": ["Factory"]}, {"city": ["Park", "Library"]}, rules=rules)
    play(g, "take gold", "destroy Park of player 1")
    assert g.gold[0] == 0
    other = table("Warlord", {"gold": 3}, {"city": ["Park", "Factory"]}, rules=rules)
    play(other, "take gold", "destroy Park of player 1")
    assert other.gold[0] == 0


@pytest.mark.rule("R124", "D-FACTORY")
@every_edition
def test_the_diplomat_reckons_the_printed_cost_in_spite_of_a_factory(rules: Rules) -> None:
    me = {"gold": 1, "city": ["Castle", "Factory"]}
    g = table("Diplomat", me, {"city": ["Park"]}, {}, {"city": ["Tavern"]}, rules=rules)
    play(g, "take gold")
    exchange(g, "Castle", "Park", 1)
    assert tuple(g.gold) == (1, 2, 0, 0)


# --- Quarry -----------------------------------------------------------------


@pytest.mark.rule("R126", "D-QUARRY", "O-quarry")
@pytest.mark.parametrize(
    ("city", "hand", "price"),
    [
        ([], "Tavern", 1),
        (["Tavern"], "Tavern", 1),
        ([], "Manor", 3),
        (["Manor"], "Manor", 2),
        (["Manor", "Manor"], "Manor", 1),
        (["Manor", "Manor", "Manor"], "Manor", 1),
        (["Palace"], "Palace", 4),
        (["Palace", "Palace"], "Palace", 3),
        (["Palace*"], "Palace", 4),
        (["Keep"], "Keep", 2),
    ],
)
def test_with_the_german_quarry_each_identical_district_makes_the_next_cheaper_down_to_one(city: list[str], hand: str, price: int) -> None:
    g = table("Magician", {"gold": 8, "hand": [hand], "city": ["Quarry", *city]})
    play(g, "take gold", f"build {hand}")
    assert g.gold[0] == 10 - price


@pytest.mark.rule("R126", "D-QUARRY")
def test_without_the_quarry_a_german_duplicate_costs_the_full_price() -> None:
    g = table("Magician", {"gold": 8, "hand": ["Palace"], "city": ["Palace", "Palace"]}, {"city": ["Quarry"]})
    play(g, "take gold", "build Palace")
    assert g.gold[0] == 5


@pytest.mark.rule("R126", "D-QUARRY")
@pytest.mark.parametrize(("gold", "offered"), [(1, False), (2, True)])
def test_the_price_lowered_by_the_quarry_decides_what_can_be_built(gold: int, offered: bool) -> None:
    g = table("Magician", {"gold": gold, "hand": ["Palace"], "city": ["Palace", "Quarry"]})
    play(g, "take gold")
    assert ("build Palace" in g.legal()) is offered


@pytest.mark.rule("R127", "D-QUARRY")
@every_edition
def test_duplicates_stay_when_the_quarry_is_destroyed(rules: Rules) -> None:
    builder = {"gold": 2, "hand": ["Manor", "Docks"], "city": ["Quarry", "Manor"]}
    g = table("Magician", builder, {"roles": ["Warlord"], "gold": 4}, rules=rules)
    play(g, "take gold", "build Manor")
    reach(g, "Warlord")
    play(g, "take gold", "destroy Quarry of player 0")
    assert g.city(0) == ["Manor", "Manor"]
    assert g.scores()[0] == 6


@pytest.mark.rule("R128", "R27", "D-QUARRY", "O-quarry")
@pytest.mark.parametrize(
    ("rules", "second", "third"),
    [
        (GERMAN, True, True),
        (FRENCH, True, True),
        (AMERICAN, True, False),
        (FRENCH.with_(quarry="one_duplicate"), True, False),
        (AMERICAN.with_(quarry="any_duplicates"), True, True),
        (AMERICAN.with_(quarry="discount"), False, False),
    ],
)
def test_how_many_duplicates_the_quarry_allows(rules: Rules, second: bool, third: bool) -> None:
    me = {"gold": 9, "hand": ["Manor", "Manor", "Temple", "Docks"], "city": ["Quarry", "Manor", "Temple"]}
    g = table("Architect", me, rules=rules)
    play(g, "take gold")
    assert ("build Manor" in g.legal()) is second
    assert ("build Temple" in g.legal()) is second
    assert "build Docks" in g.legal()
    if second:
        play(g, "build Manor")
        assert ("build Manor" in g.legal()) is third
        assert ("build Temple" in g.legal()) is third
        assert "build Docks" in g.legal()


@pytest.mark.rule("R128", "D-QUARRY")
def test_the_american_quarry_allows_another_duplicate_once_the_first_is_gone() -> None:
    city = ["Quarry", "Manor", "Temple"]
    free = table("Magician", {"gold": 9, "hand": ["Temple"], "city": city}, rules=AMERICAN)
    play(free, "take gold")
    assert "build Temple" in free.legal()
    taken = table("Magician", {"gold": 9, "hand": ["Temple"], "city": [*city, "Manor"]}, rules=AMERICAN)
    play(taken, "take gold")
    assert "build Temple" not in taken.legal()


@pytest.mark.rule("R128", "R27", "D-QUARRY")
@pytest.mark.parametrize(("rules", "offered"), [(GERMAN, True), (FRENCH, False), (AMERICAN, False)])
def test_without_a_quarry_duplicates_are_allowed_in_the_german_edition_alone(rules: Rules, offered: bool) -> None:
    g = table("Magician", {"gold": 9, "hand": ["Manor", "Keep"], "city": ["Manor", "Keep"]}, {"city": ["Quarry"]}, rules=rules)
    play(g, "take gold")
    assert bool(texts(g, "build Manor")) is offered
    assert bool(texts(g, "build Keep")) is offered


# --- Great Wall, Park, Ballroom, Throne Room --------------------------------


@pytest.mark.rule("R129", "D-WALL", "D-POWDER")
@every_edition
def test_the_great_wall_does_not_make_the_powder_tower_dearer(rules: Rules) -> None:
    g = table("Merchant", ARMED, {"city": ["Great Wall", "Manor"]}, rules=rules)
    assert sorted(texts(g, "blow up")) == ["blow up Great Wall of player 1", "blow up Manor of player 1"]
    gold = g.gold[0]
    play(g, "blow up Manor of player 1")
    assert (g.gold[0], g.gold[1]) == (gold, 0)


@pytest.mark.rule("R130", "D-PARK")
@every_edition
def test_the_owner_of_a_park_with_an_empty_hand_may_draw_two_cards_after_the_turn(rules: Rules) -> None:
    g = table("Merchant", {"city": ["Park"]}, {"roles": ["Warlord"]}, rules=rules, deck_top=["Palace", "Docks", "Manor"])
    play(g, "take gold", "end turn")
    assert (g.question, g.actor, sorted(g.legal())) == ("PARK", 0, ["no", "yes"])
    declined = play(g.clone(), "no")
    assert (declined.hand(0), declined.turn_role) == ([], "Warlord")
    play(g, "yes")
    assert (g.hand(0), g.turn_role) == (["Docks", "Palace"], "Warlord")


@pytest.mark.rule("R130", "D-PARK")
@every_edition
def test_the_park_gives_nothing_to_an_owner_with_a_card(rules: Rules) -> None:
    g = table("Merchant", {"hand": ["Palace"], "city": ["Park"]}, {"roles": ["Warlord"]}, rules=rules)
    play(g, "take gold", "end turn")
    assert (g.hand(0), g.turn_role) == (["Palace"], "Warlord")


@pytest.mark.rule("R131", "D-BALL", "O-ballroom")
@every_edition
def test_whoever_does_not_thank_the_crown_loses_the_turn(rules: Rules) -> None:
    others = ({"city": ["Ballroom"]}, {"roles": ["Warlord"]})
    g = table("Merchant", {"city": ["Tavern"], "hand": ["Temple"]}, *others, rules=rules, crown=1)
    assert (g.question, g.actor, sorted(g.legal())) == ("THANK", 0, ["stay silent", "thank"])
    polite = play(g.clone(), "thank")
    assert (polite.turn_role, polite.question, polite.actor) == ("Merchant", "PLAY", 0)
    assert "take gold" in polite.legal()
    play(g, "stay silent")
    assert (g.turn_role, g.question, g.actor) == ("Warlord", "THANK", 2)
    assert (g.gold[0], g.hand(0)) == (0, ["Temple"])


@pytest.mark.rule("R132", "D-THRONE")
@every_edition
def test_the_throne_room_pays_when_the_king_takes_the_crown(rules: Rules) -> None:
    g = table("King", {}, {"city": ["Throne Room"]}, rules=rules, crown=2)
    assert (g.crown, tuple(g.gold)) == (0, (0, 1, 0, 0))


@pytest.mark.rule("R132", "D-THRONE", "X-26", "O-throne_room_emperor_counts")
@pytest.mark.parametrize("counts", [1, 2])
@every_edition
def test_the_throne_room_pays_when_the_emperor_hands_on_the_crown(rules: Rules, counts: int) -> None:
    rules = rules.with_(throne_room_emperor_counts=counts)
    g = table("Emperor", {}, {"city": ["Throne Room"]}, rules=rules, crown=2)
    assert tuple(g.gold) == (0, 0, 0, 0)
    play(g, "crown player 3")
    assert (g.crown, tuple(g.gold)) == (3, (0, counts, 0, 0))


@pytest.mark.rule("R132", "D-THRONE", "B-HEIR")
@every_edition
def test_the_throne_room_pays_when_the_heir_of_a_murdered_king_receives_the_crown(rules: Rules) -> None:
    g = table("Warlord", {}, {"roles": ["King"]}, {"city": ["Throne Room"]}, rules=rules, crown=3, murdered="King")
    assert (g.crown, tuple(g.gold)) == (3, (0, 0, 0, 0))
    play(g, "take gold")
    end_turn(g)
    assert (g.crown, tuple(g.gold)) == (1, (2, 0, 1, 0))
