"""The roles of the ranks 5 to 9."""

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Rules
from role_helpers import every_edition
from rules_helpers import end_turn, finish, play, reach, texts
from scenes import EIGHT, exchange, exchanges, outcome, table

COLOURED = {
    "Bishop": ["Temple", "Church"],
    "Abbot": ["Temple", "Church"],
    "Merchant": ["Tavern", "Market"],
    "Warlord": ["Watchtower", "Prison"],
    "Diplomat": ["Watchtower", "Prison"],
}
EVERY_COLOUR = sorted({name for names in COLOURED.values() for name in names}) + ["Manor"]


# --- income -----------------------------------------------------------------


@every_edition
@pytest.mark.parametrize(
    "role",
    [
        pytest.param("Bishop", marks=pytest.mark.rule("R-BISHOP", "B-INCOME")),
        pytest.param("Abbot", marks=pytest.mark.rule("R-ABB-1", "B-INCOME")),
        pytest.param("Merchant", marks=pytest.mark.rule("R-MERCHANT", "B-INCOME")),
        pytest.param("Warlord", marks=pytest.mark.rule("R-WARLORD", "B-INCOME")),
        pytest.param("Diplomat", marks=pytest.mark.rule("R-DIP-1", "B-INCOME")),
    ],
)
def test_a_role_with_a_colour_takes_one_gold_per_district_of_it_once(rules: Rules, role: str) -> None:
    for city, gold in ((EVERY_COLOUR, 2), ([*COLOURED[role], COLOURED[role][0] + "*"], 3)):
        g = table(role, {"city": city}, rules=rules)
        before = g.gold[0]
        play(g, "income")
        assert g.gold[0] == before + gold
        assert "income" not in g.legal()
    others = [name for name in EVERY_COLOUR if name not in COLOURED[role]]
    assert "income" not in table(role, {"city": others}, rules=rules).legal()


@every_edition
@pytest.mark.rule("B-INCOME")
@pytest.mark.parametrize("role", ["Alchemist", "Architect", "Navigator", "Artist", "Queen"])
def test_a_role_without_a_colour_has_no_income(rules: Rules, role: str) -> None:
    g = table(role, {"city": EVERY_COLOUR}, players=5, rules=rules)
    assert "income" not in g.legal()
    assert "income" not in play(g, "take gold").legal()


@pytest.mark.rule("R-BISHOP", "B-INCOME")
@every_edition
def test_a_district_built_before_the_income_pays_and_one_built_after_it_does_not(rules: Rules) -> None:
    g = table("Bishop", {"hand": ["Temple"], "city": ["Church"]}, rules=rules)
    late = play(g.clone(), "income", "take gold", "build Temple")
    assert (late.gold[0], "income" in late.legal()) == (2, False)
    play(g, "take gold", "build Temple", "income")
    assert g.gold[0] == 3


# --- rank 5 -----------------------------------------------------------------


@pytest.mark.rule("R-BISHOP", "R-WARLORD", "R15")
@every_edition
def test_the_warlord_destroys_nothing_of_a_living_bishop_but_may_if_he_was_murdered(rules: Rules) -> None:
    others = ({"roles": ["Bishop"], "city": ["Temple", "Manor"]}, {"city": ["Docks"]})
    alive = play(table("Warlord", {"gold": 5}, *others, rules=rules), "take gold")
    assert texts(alive, "destroy") == ["destroy Docks of player 2"]
    dead = play(table("Warlord", {"gold": 5}, *others, rules=rules, murdered="Bishop"), "take gold")
    assert sorted(texts(dead, "destroy")) == ["destroy Docks of player 2", "destroy Manor of player 1", "destroy Temple of player 1"]


@pytest.mark.rule("R-ABB-2")
@every_edition
def test_the_coin_of_the_richest_comes_from_a_player_not_from_the_bank(rules: Rules) -> None:
    g = table("Abbot", {}, {"gold": 1}, rules=rules)
    play(g, "use power")
    assert tuple(g.gold) == (1, 0, 0, 0)
    play(g, "take gold", "end turn")
    assert tuple(g.gold) == (3, 0, 0, 0)


@pytest.mark.rule("R-ABB-2", "B-POWER")
@every_edition
def test_the_abbot_may_leave_the_coin(rules: Rules) -> None:
    g = table("Abbot", {}, {"gold": 6}, rules=rules)
    play(g, "take gold", "end turn")
    assert tuple(g.gold) == (2, 6, 0, 0)


@pytest.mark.rule("R-ABB-2")
@every_edition
def test_when_nobody_has_gold_nobody_pays_the_abbot(rules: Rules) -> None:
    g = table("Abbot", {}, rules=rules)
    assert "use power" not in g.legal()


# --- rank 6 -----------------------------------------------------------------


@pytest.mark.rule("R-MERCHANT", "R5", "O-merchant_bonus_timing")
@pytest.mark.parametrize("timing", ["any", "start", "after_action"])
@pytest.mark.parametrize("action", ["take gold", "draw cards"])
def test_the_merchant_gets_one_gold_more_whatever_his_action(timing: str, action: str) -> None:
    g = table("Merchant", {"city": ["Tavern"]}, rules=GERMAN.with_(merchant_bonus_timing=timing), deck_top=["Manor", "Manor"])
    assert g.gold[0] == (1 if timing == "start" else 0)
    assert ("use power" in g.legal()) is (timing == "any")
    play(g, action)
    gold = (2 if action == "take gold" else 0) + (0 if timing == "any" else 1)
    assert g.gold[0] == gold
    if timing == "any":
        play(g, "use power")
        assert g.gold[0] == gold + 1
    assert "use power" not in g.legal()
    play(g, "income")
    assert g.gold[0] == (2 if action == "take gold" else 0) + 2


@pytest.mark.rule("R-MERCHANT", "R6", "O-merchant_bonus_timing")
def test_the_german_merchant_takes_his_gold_before_his_action() -> None:
    g = table("Merchant", {})
    play(g, "use power")
    assert g.gold[0] == 1
    assert "take gold" in g.legal()


@pytest.mark.rule("R-MERCHANT")
@every_edition
@pytest.mark.parametrize("action", ["take gold", "draw cards"])
def test_in_every_edition_the_merchant_ends_with_the_same_gold(rules: Rules, action: str) -> None:
    g = table("Merchant", {}, rules=rules, deck_top=["Manor", "Manor"])
    play(g, action, *(["use power"] if rules is GERMAN else []), "end turn")
    assert g.gold[0] == (3 if action == "take gold" else 1)


@pytest.mark.rule("R-ALC-1")
@every_edition
def test_the_alchemist_gets_back_what_he_paid_for_building(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 3, "hand": ["Palace"]}, rules=rules)
    play(g, "take gold", "build Palace", "end turn")
    assert outcome(g) == ((5, 0, 0, 0), [["Palace"], [], [], []])


@pytest.mark.rule("R-ALC-1")
@every_edition
def test_an_alchemist_who_builds_nothing_gets_nothing(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 3, "hand": ["Palace"]}, rules=rules)
    play(g, "take gold", "end turn")
    assert g.gold[0] == 5


@pytest.mark.rule("R-ALC-2")
@every_edition
def test_the_alchemist_builds_one_district_a_turn(rules: Rules) -> None:
    g = table("Alchemist", {"gold": 9, "hand": ["Palace", "Temple"]}, rules=rules)
    play(g, "take gold", "build Palace")
    assert texts(g, "build") == []


# --- rank 7 -----------------------------------------------------------------


@pytest.mark.rule("R-ARCHITECT", "O-architect_cards_timing")
@pytest.mark.parametrize("timing", ["any", "start", "after_action"])
def test_the_architect_gets_two_cards_more_and_keeps_both(timing: str) -> None:
    g = table("Architect", {}, rules=GERMAN.with_(architect_cards_timing=timing), deck_top=["Manor", "Palace", "Docks"])
    both = ["Manor", "Palace"]
    assert g.hand(0) == (both if timing == "start" else [])
    assert ("use power" in g.legal()) is (timing == "any")
    play(g, "take gold")
    assert g.hand(0) == ([] if timing == "any" else both)
    if timing == "any":
        play(g, "use power")
    assert g.hand(0) == both
    assert "use power" not in g.legal()


@pytest.mark.rule("R-ARCHITECT", "O-architect_cards_timing")
@pytest.mark.parametrize(("rules", "timing"), [(GERMAN, "any"), (FRENCH, "start"), (AMERICAN, "after_action")])
def test_when_the_architect_of_each_edition_gets_his_cards(rules: Rules, timing: str) -> None:
    g = table("Architect", {}, rules=rules, deck_top=["Manor", "Palace", "Docks", "Harbor"])
    play(g, "draw cards")
    assert sorted(g.legal()) == (["keep Docks", "keep Harbor"] if timing == "start" else ["keep Manor", "keep Palace"])
    play(g, "keep Docks" if timing == "start" else "keep Manor")
    assert g.hand(0) == {"any": ["Manor"], "start": ["Docks", "Manor", "Palace"], "after_action": ["Docks", "Harbor", "Manor"]}[timing]


@pytest.mark.rule("R-ARCHITECT")
@every_edition
def test_the_architect_builds_up_to_three_districts(rules: Rules) -> None:
    hand = ["Manor", "Temple", "Tavern", "Docks"]
    g = table("Architect", {"gold": 9, "hand": hand}, rules=rules)
    assert texts(g, "build") == []
    play(g, "take gold", "build Manor", "build Temple")
    assert "build Docks" in g.legal()
    play(g, "build Tavern")
    assert texts(g, "build") == []
    assert (g.gold[0], g.city(0)) == (6, ["Manor", "Temple", "Tavern"])


@pytest.mark.rule("R-ARCHITECT", "B-BUILD")
@every_edition
def test_other_roles_build_one_district(rules: Rules) -> None:
    g = table("Merchant", {"gold": 9, "hand": ["Manor", "Temple"]}, rules=rules)
    play(g, "take gold", "build Temple")
    assert texts(g, "build") == []


@pytest.mark.rule("R-NAV")
@every_edition
def test_the_navigator_takes_four_gold_after_his_action(rules: Rules) -> None:
    g = table("Navigator", {"gold": 1}, rules=rules)
    assert sorted(g.legal()) == ["draw cards", "take gold"]
    play(g, "take gold", "take 4 gold")
    assert g.gold[0] == 7
    assert g.legal() == ["end turn"]


@pytest.mark.rule("R-NAV")
@every_edition
def test_the_navigator_takes_four_cards_after_his_action_and_keeps_all(rules: Rules) -> None:
    g = table("Navigator", {}, rules=rules, deck_top=["Palace", "Docks", "Manor", "Temple", "Tavern"])
    play(g, "take gold", "draw 4 cards")
    assert g.hand(0) == ["Docks", "Manor", "Palace", "Temple"]
    assert g.gold[0] == 2
    assert g.legal() == ["end turn"]


@pytest.mark.rule("R-NAV")
@every_edition
def test_the_navigator_never_builds(rules: Rules) -> None:
    g = table("Navigator", {"gold": 9, "hand": ["Manor"]}, rules=rules)
    assert texts(g, "build") == []
    play(g, "take gold")
    assert texts(g, "build") == []
    play(g, "take 4 gold")
    assert texts(g, "build") == []


@pytest.mark.rule("R-NAV", "O-navigator_can_never_build")
@every_edition
def test_where_the_option_allows_it_the_navigator_builds_instead_of_taking_his_bonus(rules: Rules) -> None:
    g = table("Navigator", {"gold": 9, "hand": ["Manor", "Temple"]}, rules=rules.with_(navigator_can_never_build=False))
    assert texts(g, "build") == []
    play(g, "take gold")
    assert "build Manor" in g.legal()
    bonus = play(g.clone(), "take 4 gold")
    assert texts(bonus, "build") == []
    play(g, "build Manor")
    assert "take 4 gold" not in g.legal()
    assert "draw 4 cards" not in g.legal()
    assert texts(g, "build") == []


@pytest.mark.rule("R-NAV", "R86", "O-navigator_bonus_ends_turn")
@pytest.mark.parametrize("ends", [False, True])
def test_whether_the_navigators_bonus_ends_his_turn(ends: bool) -> None:
    rules = GERMAN.with_(navigator_bonus_ends_turn=ends)
    g = table("Navigator", {"hand": ["Temple"], "city": ["Laboratory"]}, rules=rules, deck_top=["Manor"] * 4)
    play(g, "take gold", "draw 4 cards")
    assert g.legal() == (["end turn"] if ends else ["end turn", "laboratory Manor", "laboratory Temple"])


# --- rank 8 -----------------------------------------------------------------


@pytest.mark.rule("R-WARLORD")
@every_edition
@pytest.mark.parametrize(
    ("district", "price"), [("Temple", 0), ("Church", 1), ("Manor", 2), ("Palace", 4), ("University", 5), ("Dragon Gate", 5)]
)
def test_the_warlord_destroys_for_one_less_than_the_cost(rules: Rules, district: str, price: int) -> None:
    g = table("Warlord", {"gold": 4}, {"city": [district, "Docks"]}, {"gold": 3}, rules=rules)
    play(g, "take gold", f"destroy {district} of player 1")
    assert outcome(g) == ((6 - price, 0, 3, 0), [[], ["Docks"], [], []])


@pytest.mark.rule("R-WARLORD")
@every_edition
def test_the_warlord_must_have_the_price(rules: Rules) -> None:
    g = table("Warlord", {}, {"city": ["Temple", "Manor", "Castle"]}, rules=rules)
    play(g, "take gold")
    assert texts(g, "destroy") == ["destroy Manor of player 1", "destroy Temple of player 1"]


@pytest.mark.rule("R-WARLORD")
@every_edition
def test_the_warlord_destroys_one_district_a_turn(rules: Rules) -> None:
    g = table("Warlord", {"gold": 9}, {"city": ["Temple", "Manor"]}, rules=rules)
    play(g, "take gold", "destroy Temple of player 1")
    assert texts(g, "destroy") == []


@pytest.mark.rule("R-WARLORD", "R18")
@every_edition
def test_the_warlord_destroys_nothing_in_a_complete_city(rules: Rules) -> None:
    g = table("Warlord", {"gold": 9}, {"city": EIGHT}, {"city": EIGHT[:7]}, rules=rules)
    play(g, "take gold")
    assert texts(g, "destroy") == [f"destroy {name} of player 2" for name in EIGHT[:7]]


@pytest.mark.rule("R-WARLORD", "B-DISCARD")
@pytest.mark.parametrize(("rules", "deck", "discard"), [(GERMAN, 0, 1), (FRENCH, 1, 0), (AMERICAN, 1, 0)])
def test_the_destroyed_district_goes_where_cards_are_discarded(rules: Rules, deck: int, discard: int) -> None:
    g = play(table("Warlord", {}, {"city": ["Temple"]}, rules=rules), "take gold")
    before = (g.deck_size, g.discard_size)
    play(g, "destroy Temple of player 1")
    assert (g.deck_size - before[0], g.discard_size - before[1]) == (deck, discard)


@pytest.mark.rule("R-WARLORD", "R17", "O-warlord_own_city")
@pytest.mark.parametrize(
    ("rules", "own"),
    [
        (GERMAN, False),
        (FRENCH, True),
        (AMERICAN, True),
        (GERMAN.with_(warlord_own_city=True), True),
        (FRENCH.with_(warlord_own_city=False), False),
    ],
)
def test_whether_the_warlord_destroys_in_his_own_city(rules: Rules, own: bool) -> None:
    g = table("Warlord", {"city": ["Temple", "Keep"]}, {"city": ["Church"]}, rules=rules)
    play(g, "take gold")
    assert sorted(texts(g, "destroy")) == ["destroy Church of player 1", *(["destroy Temple of player 0"] if own else [])]
    if own:
        play(g, "destroy Temple of player 0")
        assert outcome(g) == ((2, 0, 0, 0), [["Keep"], ["Church"], [], []])


@pytest.mark.rule("R-WARLORD", "X-28", "O-warlord_timing")
@pytest.mark.parametrize(
    ("rules", "any_time"), [(GERMAN, True), (FRENCH, False), (AMERICAN, False), (GERMAN.with_(warlord_timing="end_of_turn"), False)]
)
def test_the_warlord_destroys_at_any_time_or_at_the_end_of_his_turn(rules: Rules, any_time: bool) -> None:
    g = table("Warlord", {"gold": 3, "hand": ["Manor"], "city": ["Prison"]}, {"city": ["Temple"]}, rules=rules)
    assert ("destroy Temple of player 1" in g.legal()) is any_time
    play(g, "take gold", "destroy Temple of player 1")
    assert sorted(g.legal()) == (["build Manor", "end turn", "income"] if any_time else ["end turn"])


@pytest.mark.rule("R-DIP-2", "R-DIP-4")
def test_the_diplomat_exchanges_two_districts_and_both_cities_keep_their_number() -> None:
    g = table("Diplomat", {"gold": 1, "city": ["Temple", "Docks"]}, {"city": EIGHT}, {"city": ["Harbor"]})
    exchange(g, "Docks", "Castle", 1)
    mine, theirs = ["Castle", "Temple"], ["Manor", "Temple", "Church", "Tavern", "Market", "Docks", "Watchtower", "Prison"]
    assert outcome(g) == ((0, 1, 0, 0), [mine, theirs, ["Harbor"], []])
    finish(g)
    assert g.over


@pytest.mark.rule("R-DIP-3", "X-20", "D-WALL", "O-great_wall_protects_itself")
@every_edition
@pytest.mark.parametrize("itself", [True, False])
def test_the_price_of_the_great_wall_itself_for_the_diplomat(rules: Rules, itself: bool) -> None:
    rules = rules.with_(great_wall_protects_itself=itself)
    g = table("Diplomat", {"city": ["Palace"]}, {"city": ["Great Wall"]}, {"city": ["Tavern"]}, rules=rules)
    play(g, "take gold")
    exchange(g, "Palace", "Great Wall", 1)
    assert tuple(g.gold) == ((0, 2, 0, 0) if itself else (1, 1, 0, 0))


@pytest.mark.rule("R-DIP-2")
@every_edition
def test_without_a_district_of_his_own_the_diplomat_exchanges_nothing(rules: Rules) -> None:
    g = table("Diplomat", {"gold": 9}, {"city": ["Temple", "Docks"]}, rules=rules)
    play(g, "take gold")
    assert texts(g, "offer") == []


@pytest.mark.rule("R-DIP-2")
@every_edition
def test_the_diplomat_exchanges_with_other_players_only(rules: Rules) -> None:
    g = table("Diplomat", {"gold": 9, "city": ["Temple", "Docks"]}, {"city": ["Manor"]}, {"city": ["Castle"]}, rules=rules)
    play(g, "take gold")
    assert sorted(exchanges(g, "Temple")) == ["exchange for Castle of player 2", "exchange for Manor of player 1"]


# --- rank 9 -----------------------------------------------------------------


@pytest.mark.rule("R-ART-1")
@every_edition
def test_the_artist_beautifies_one_or_two_districts_for_one_gold_each(rules: Rules) -> None:
    g = table("Artist", {"gold": 3, "city": ["Manor", "Temple", "Docks"]}, rules=rules)
    assert sorted(texts(g, "beautify")) == ["beautify Docks", "beautify Manor", "beautify Temple"]
    play(g, "beautify Manor")
    assert (g.gold[0], g.city(0)) == (2, ["Manor*", "Temple", "Docks"])
    assert sorted(texts(g, "beautify")) == ["beautify Docks", "beautify Temple"]
    play(g, "beautify Docks")
    assert (g.gold[0], g.city(0)) == (1, ["Manor*", "Temple", "Docks*"])
    assert texts(g, "beautify") == []
    assert g.scores()[0] == 3 + 1 + 3 + 2


@pytest.mark.rule("R-ART-1")
@every_edition
def test_the_artist_beautifies_with_his_own_gold(rules: Rules) -> None:
    g = table("Artist", {"gold": 0, "city": ["Manor"]}, rules=rules)
    assert texts(g, "beautify") == []
    assert texts(play(g, "take gold"), "beautify") == ["beautify Manor"]


@pytest.mark.rule("R-ART-1")
@every_edition
def test_the_artist_may_beautify_the_district_he_just_built(rules: Rules) -> None:
    g = table("Artist", {"gold": 2, "hand": ["Manor"]}, rules=rules)
    play(g, "take gold", "build Manor", "beautify Manor")
    assert (g.gold[0], g.city(0), g.scores()[0]) == (0, ["Manor*"], 4)


@pytest.mark.rule("R-ART-1", "R-ART-2")
def test_each_of_two_identical_districts_may_carry_a_coin() -> None:
    g = table("Artist", {"gold": 3, "city": ["Manor", "Manor"]})
    play(g, "beautify Manor")
    assert sorted(g.city(0)) == ["Manor", "Manor*"]
    play(g, "beautify Manor")
    assert (g.gold[0], g.city(0), g.scores()[0]) == (1, ["Manor*", "Manor*"], 8)


@pytest.mark.rule("R-ART-2")
@every_edition
def test_a_plain_and_a_beautified_copy_have_their_own_prices(rules: Rules) -> None:
    rules = rules.with_(duplicates_allowed=True)
    g = table("Warlord", {}, {"city": ["Manor", "Manor*"]}, rules=rules)
    play(g, "take gold")
    assert texts(g, "destroy") == ["destroy Manor of player 1"]
    rich = table("Warlord", {"gold": 5}, {"city": ["Manor", "Manor*"]}, rules=rules)
    play(rich, "take gold")
    plain = play(rich.clone(), "destroy Manor of player 1")
    assert (plain.gold[0], plain.city(1)) == (5, ["Manor*"])
    play(rich, "destroy Manor* of player 1")
    assert (rich.gold[0], rich.city(1)) == (4, ["Manor"])


@pytest.mark.rule("R-QUEEN-1")
@every_edition
@pytest.mark.parametrize(("seat", "gold"), [(1, 3), (2, 0), (3, 0), (4, 3)])
def test_the_queen_takes_three_gold_when_called_if_the_kings_player_sits_beside_her(rules: Rules, seat: int, gold: int) -> None:
    others = [{"roles": ["King"]} if n == seat else {} for n in range(1, 5)]
    g = table("Queen", {"gold": 2}, *others, rules=rules, crown=seat)
    assert g.gold[0] == 2 + gold
    play(g, "take gold")
    end_turn(g)
    assert g.gold[0] == 4 + gold


@pytest.mark.rule("R-QUEEN-1")
@every_edition
def test_without_a_king_in_the_round_the_queen_takes_nothing(rules: Rules) -> None:
    g = table("Queen", {}, players=5, rules=rules, crown=1)
    assert g.gold[0] == 0


@pytest.mark.rule("R-QUEEN-2", "X-19", "I12")
@every_edition
def test_a_murdered_king_shown_by_his_hospital_pays_the_queen_when_she_is_called(rules: Rules) -> None:
    king = {"roles": ["King"], "city": ["Hospital"]}
    g = table("Warlord", {}, {"roles": ["Queen"]}, king, players=5, rules=rules, crown=3, called=3, murdered="King")
    assert (g.turn_role, g.question) == ("King", "ACTION")
    reach(play(g, "take gold"), "Queen")
    assert g.gold[1] == 3
    play(g, "take gold")
    end_turn(g)
    assert g.gold[1] == 5


@pytest.mark.rule("R-QUEEN-3")
@every_edition
@pytest.mark.parametrize(("witch", "king", "gold"), [(2, 3, 3), (3, 1, 0), (2, 1, 3), (3, 4, 3)])
def test_with_the_queen_bewitched_it_is_the_witchs_seat_that_counts(rules: Rules, witch: int, king: int, gold: int) -> None:
    others = [{"roles": ["Witch"]} if n == witch else {"roles": ["King"]} if n == king else {} for n in range(1, 5)]
    g = table("Queen", {}, *others, rules=rules, crown=king, bewitched="Queen")
    assert (g.actor, g.question, g.gold[0]) == (0, "ACTION", 0)
    play(g, "take gold")
    assert (g.actor, g.question) == (witch, "PLAY")
    assert (g.gold[0], g.gold[witch]) == (2, gold)


@pytest.mark.rule("R-QUEEN-4", "O-allow_emperor_and_queen")
@every_edition
def test_emperor_and_queen_together_give_a_warning_or_are_refused(rules: Rules) -> None:
    with pytest.warns(UserWarning, match="advises against Emperor and Queen"):
        both = table("Queen", {}, also=("Emperor",), players=5, rules=rules)
    assert both.turn_role == "Queen"
    with pytest.raises(ValueError, match="allow_emperor_and_queen is False"):
        table("Queen", {}, also=("Emperor",), players=5, rules=rules.with_(allow_emperor_and_queen=False))
