"""The course of a round and of a turn, and which question is asked when."""

from typing import Any

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Game, Rules
from rules_helpers import RANK, at, end_turn, finish, leftovers, play, reach, seat, table, texts, using

# --- calling, revealing, the crown -----------------------------------------------


@pytest.mark.rule("B-CALL")
def test_ranks_are_called_in_rising_order_and_missing_ones_are_passed_over() -> None:
    g = at(players=[seat("Warlord"), seat("Magician"), seat("Bishop"), seat("Assassin")])
    called = []
    while g.round_number == 1 and g.question != "DRAFT":
        called.append((g.turn_role, g.actor))
        end_turn(g)
    assert called == [("Assassin", 3), ("Magician", 1), ("Bishop", 2), ("Warlord", 0)]


@pytest.mark.rule("B-CALL", "R-ASSASSIN")
def test_the_murdered_role_is_passed_over_in_silence() -> None:
    g = at(players=[seat("Warlord"), seat("Magician"), seat("Bishop"), seat("Assassin")])
    play(g, "name Magician", "take gold", "end turn")
    assert (g.turn_role, g.actor) == ("Bishop", 2)
    assert g.revealed(1) == []
    assert g.gold[1] == 0


@pytest.mark.rule("B-REVEAL", "R8")
def test_a_role_is_open_once_it_has_answered() -> None:
    g = at(players=[seat("Warlord"), seat("Magician"), seat("Bishop"), seat("Thief")])
    play(g, "name Magician", "take gold")
    assert [g.revealed(player) for player in range(4)] == [[], [], [], ["Thief"]]
    play(g, "end turn")
    assert [g.revealed(player) for player in range(4)] == [[], ["Magician"], [], ["Thief"]]


@pytest.mark.rule("B-REVEAL")
def test_roles_are_secret_again_in_the_next_round() -> None:
    g = finish(at(players=[seat("Warlord"), seat("Magician"), seat("Bishop"), seat("Thief")]))
    assert (g.question, g.turn_role) == ("DRAFT", None)
    assert [g.revealed(player) for player in range(4)] == [[], [], [], []]


@pytest.mark.rule("B-CROWN", "R-KING", "S-8")
def test_the_king_takes_the_crown_when_called_and_drafts_first() -> None:
    g = at(players=[seat("Warlord"), seat("Magician"), seat("King"), seat("Thief")], crown=1)
    reach(g, "Magician")
    assert g.crown == 1
    reach(g, "King")
    assert g.crown == 2
    finish(g)
    assert (g.question, g.actor, g.crown) == ("DRAFT", 2, 2)


@pytest.mark.rule("B-CROWN", "R14", "S-8")
def test_without_a_king_the_crown_stays() -> None:
    g = finish(at(players=[seat("Warlord"), seat("Magician"), seat("Bishop"), seat("Thief")], crown=1))
    assert (g.crown, g.question, g.actor) == (1, "DRAFT", 1)


@pytest.mark.rule("B-HEIR", "R13")
def test_the_murdered_king_inherits_the_crown_when_the_round_ends() -> None:
    g = at(players=[seat("Assassin"), seat("Magician"), seat("King", city=["Manor"]), seat("Warlord")], crown=1)
    play(g, "name King")
    reach(g, "Warlord")
    assert (g.crown, g.revealed(2), g.gold[2]) == (1, [], 0)
    finish(g)
    assert (g.crown, g.actor, g.gold[2]) == (2, 2, 0)


def next_round(rules: Rules, first: list[dict[str, Any]], answers: tuple[str, ...], wanted: dict[int, str], without: str = "") -> Game:
    """After a round begun with `answers`, a round in which the seats hold the roles wanted, and nobody `without`."""
    for number in range(300):
        g = finish(play(at(rules, players=first, seed=number), *answers))
        while g.question == "DRAFT":
            roles = [text.removeprefix("draft ") for text in g.legal()]
            mine = wanted.get(g.actor or 0)
            free = [role for role in roles if role not in (*wanted.values(), without)]
            choice = mine if mine in roles else free[0] if free and mine is None else None
            if choice is None:
                break
            g.play(f"draft {choice}")
        else:
            return g
    raise AssertionError("no draft leads there")


@pytest.mark.rule("B-REVEAL", "R-ASSASSIN")
def test_a_murder_is_forgotten_in_the_next_round() -> None:
    first = [seat("Assassin"), seat("Thief"), seat("Bishop"), seat("Warlord")]
    g = next_round(GERMAN, first, ("name Thief",), {1: "Thief"}, without="Assassin")
    assert (g.round_number, g.turn_role, g.actor) == (2, "Thief", 1)


@pytest.mark.rule("B-REVEAL", "R-THIEF")
def test_a_robbery_is_forgotten_in_the_next_round() -> None:
    first = [seat("Thief"), seat("King", gold=5), seat("Bishop", gold=4), seat("Warlord")]
    g = reach(next_round(GERMAN, first, ("name Bishop",), {2: "Bishop"}, without="Thief"), "Bishop")
    assert (g.round_number, g.gold[2], g.gold[0]) == (2, 2, 2 + 4 + (2 if RANK[g.roles(0)[0]] < RANK["Bishop"] else 0))


@pytest.mark.rule("B-REVEAL", "R-WITCH-2")
def test_a_bewitching_is_forgotten_in_the_next_round() -> None:
    first = [seat("Witch"), seat("King"), seat("Bishop"), seat("Warlord")]
    g = next_round(using(GERMAN, "Witch"), first, ("take gold", "name Bishop"), {1: "Bishop"}, without="Witch")
    assert (reach(g, "Bishop").round_number, g.question, g.actor) == (2, "PLAY", 1)


@pytest.mark.rule("R-TAX-1", "I4")
def test_the_tax_collector_of_the_last_round_is_paid_no_more() -> None:
    first = [seat("Tax Collector"), seat("King"), seat("Bishop", gold=4, hand=["Tavern"]), seat("Warlord")]
    g = reach(next_round(using(GERMAN, "Tax Collector"), first, (), {2: "Bishop"}, without="Tax Collector"), "Bishop")
    before = g.gold
    play(g, "take gold", "build Tavern", "end turn")
    assert (g.gold[2], g.gold[0]) == (before[2] + 1, before[0])


@pytest.mark.rule("R-TAX-2")
def test_what_the_assassin_built_in_the_last_round_is_taxed_no_more() -> None:
    rules = using(GERMAN, "Tax Collector")
    first = [seat("Assassin", gold=9, hand=["Tavern"]), seat("Tax Collector"), seat("Bishop"), seat("Warlord")]
    g = next_round(rules, first, ("take gold", "build Tavern", "end turn"), {0: "Assassin", 1: "Tax Collector"})
    before = g.gold
    reach(g, "Tax Collector")
    assert (g.round_number, g.gold[:2]) == (2, (before[0] + 2, before[1]))


# --- action and income ------------------------------------------------------------


@pytest.mark.rule("B-ACTION", "P-1")
def test_the_action_is_two_gold_or_a_card_once() -> None:
    g = table(seat("King"), deck_top=["Temple", "Market", "Docks"])
    assert set(g.legal()) == {"take gold", "draw cards"}
    rich = play(g.clone(), "take gold")
    assert (rich.gold[0], rich.hand(0), rich.legal()) == (2, [], ["end turn"])
    wise = play(g, "draw cards")
    assert (wise.question, set(wise.legal())) == ("KEEP", {"keep Temple", "keep Market"})
    play(wise, "keep Market")
    assert (wise.gold[0], wise.hand(0), wise.legal()) == (0, ["Market"], ["end turn"])


@pytest.mark.rule("B-ACTION", "P-9")
def test_no_turn_ends_without_its_action() -> None:
    g = table(seat("King", city=["Manor"]))
    assert "end turn" not in g.legal()
    play(g, "income")
    assert "end turn" not in g.legal()
    play(g, "take gold")
    assert g.legal() == ["end turn"]
    assert (g.question, g.actor) == ("PLAY", 0)  # ending the turn is never done for the player


@pytest.mark.rule("B-DISCARD", "O-discard_to")
@pytest.mark.parametrize("pile", ["discard_pile", "deck_bottom"])
def test_unkept_cards_go_to_the_discard_pile_or_under_the_deck(pile: str) -> None:
    g = table(seat("King"), rules=GERMAN.with_(discard_to=pile), deck_top=["Temple", "Market"])
    deck = g.deck_size
    play(g, "draw cards", "keep Temple")
    assert (g.deck_size, g.discard_size) == ((deck - 2, 1) if pile == "discard_pile" else (deck - 1, 0))


@pytest.mark.rule("B-DISCARD", "O-discard_to", "R-MAGICIAN")
@pytest.mark.parametrize("pile", ["discard_pile", "deck_bottom"])
def test_destroyed_and_exchanged_cards_go_the_same_way(pile: str) -> None:
    rules = GERMAN.with_(discard_to=pile)
    g = at(
        rules, players=[seat("Warlord"), seat("King", city=["Tavern"]), seat("Bishop"), seat("Magician", hand=["Manor", "Docks"])], called=2
    )
    deck = g.deck_size
    play(g, "discard Manor", "done")
    assert (g.deck_size, g.discard_size) == ((deck - 1, 1) if pile == "discard_pile" else (deck, 0))
    reach(g, "Warlord")
    play(g, "destroy Tavern of player 1")
    assert (g.deck_size, g.discard_size) == ((deck - 1, 2) if pile == "discard_pile" else (deck + 1, 0))


@pytest.mark.rule("O-discard_to", "B-DISCARD")
def test_cards_put_under_the_deck_are_drawn_last() -> None:
    rules = GERMAN.with_(discard_to="deck_bottom")
    rest = leftovers(rules, "Temple", "Market", "Keep")
    g = at(
        rules, players=[seat("King"), seat("Bishop", hand=rest), seat("Architect"), seat("Warlord")], deck_top=["Temple", "Market", "Keep"]
    )
    play(g, "draw cards", "keep Temple")  # the deck is now Keep, Market
    assert g.deck_size == 2
    reach(g, "Architect")
    play(g, "use power")
    assert g.hand(2) == ["Keep", "Market"]


@pytest.mark.rule("B-INCOME", "P-1")
@pytest.mark.parametrize(
    ("role", "city"),
    [
        ("King", ["Manor", "Castle"]),
        ("Emperor", ["Manor", "Palace"]),
        ("Bishop", ["Temple", "Cathedral"]),
        ("Abbot", ["Church", "Monastery"]),
        ("Merchant", ["Tavern", "Docks"]),
        ("Warlord", ["Prison", "Fortress"]),
        ("Diplomat", ["Watchtower", "Battlefield"]),
    ],
)
def test_each_district_of_the_colour_pays_one_gold(role: str, city: list[str]) -> None:
    rules = using(GERMAN, role)
    g = at(
        rules,
        players=[seat(role, city=[*city, "Keep"]), *(seat(name) for name in ("Assassin", "Thief", "Architect"))],
        called=RANK[role] - 1,
    )
    if g.question == "CROWN":
        play(g, "crown player 1")
    before = g.gold[0]
    play(g, "income")
    assert g.gold[0] == before + 2
    assert "income" not in g.legal()
    play(g, "take gold")
    assert "income" not in g.legal()


@pytest.mark.rule("B-INCOME", "P-1")
def test_income_is_offered_only_where_it_pays() -> None:
    assert "income" not in table(seat("King", city=["Temple"])).legal()
    assert "income" in table(seat("King", city=["Castle"])).legal()
    for role in ("Assassin", "Thief", "Magician", "Architect"):
        assert "income" not in table(seat(role, city=["Manor", "Temple", "Tavern", "Prison", "Keep"])).legal()


@pytest.mark.rule("B-INCOME", "R3", "R4")
def test_income_is_taken_once_before_or_after_building() -> None:
    g = table(seat("King", gold=5, hand=["Manor"], city=["Castle"]))
    early = play(g.clone(), "income", "take gold", "build Manor")
    assert early.gold[0] == 5 + 1 + 2 - 3
    assert early.legal() == ["end turn"]
    late = play(g, "take gold", "build Manor", "income")
    assert late.gold[0] == 5 + 2 - 3 + 2


# --- building ----------------------------------------------------------------------


@pytest.mark.rule("B-BUILD", "P-1")
def test_one_district_is_built_after_the_action_for_its_cost() -> None:
    g = table(seat("King", gold=3, hand=["Manor", "Tavern", "Cathedral", "University"]))
    assert texts(g, "build") == []
    play(g, "take gold")
    assert set(texts(g, "build")) == {"build Manor", "build Tavern", "build Cathedral"}  # the University costs 6
    play(g, "build Manor")
    assert (g.gold[0], g.city(0), g.hand(0)) == (2, ["Manor"], ["Cathedral", "Tavern", "University"])
    assert texts(g, "build") == []


@pytest.mark.rule("B-BUILD", "R1")
def test_nobody_has_to_build() -> None:
    g = table(seat("King", gold=9, hand=["Tavern"]))
    play(g, "take gold")
    assert set(g.legal()) == {"build Tavern", "end turn"}


@pytest.mark.rule("B-BUILD", "R-ARCHITECT")
def test_the_architect_builds_three_districts() -> None:
    g = table(seat("Architect", gold=9, hand=["Tavern", "Temple", "Market", "Prison"]))
    play(g, "take gold", "build Tavern", "build Temple", "build Market")
    assert texts(g, "build") == []


@pytest.mark.rule("B-DUPLICATE", "O-duplicates_allowed", "R27", "I25")
@pytest.mark.parametrize("district", ["Tavern", "Keep"])
@pytest.mark.parametrize("allowed", [False, True])
def test_the_same_district_may_stand_twice_or_not(district: str, allowed: bool) -> None:
    rules = GERMAN.with_(duplicates_allowed=allowed)
    g = table(seat("King", gold=9, hand=[district], city=[district]), rules=rules)
    play(g, "take gold")
    assert (f"build {district}" in g.legal()) == allowed
    other = table(seat("King", gold=9, hand=[district]), seat("Bishop", city=[district]), rules=rules)
    play(other, "take gold", f"build {district}")  # in two cities it always may


@pytest.mark.rule("B-UNIQUE", "R113")
def test_a_unique_works_in_the_turn_it_is_built() -> None:
    g = table(seat("King", gold=9, hand=["Laboratory", "Tavern"]))
    play(g, "take gold")
    assert texts(g, "laboratory") == []
    play(g, "build Laboratory", "laboratory Tavern")
    assert (g.gold[0], g.hand(0)) == (9 + 2 - 5 + 1, [])


@pytest.mark.rule("B-UNIQUE", "R4")
def test_a_school_of_magic_built_before_income_counts() -> None:
    g = table(seat("King", gold=9, hand=["School of Magic"], city=["Manor"]))
    play(g, "take gold", "build School of Magic", "income")
    assert g.gold[0] == 9 + 2 - 6 + 2


# --- powers and their moments -------------------------------------------------------

POWERS = [
    ("Assassin", {}, "name King"),
    ("Thief", {}, "name King"),
    ("Magician", {}, "swap hands with player 1"),
    ("Merchant", {}, "use power"),
    ("Architect", {}, "use power"),
    ("Warlord", {}, "destroy Tavern of player 1"),
    ("Wizard", {}, "look at player 1"),
    ("Abbot", {}, "use power"),
    ("Artist", {"gold": 1, "city": ["Manor"]}, "beautify Manor"),
]


@pytest.mark.rule("B-POWER", "O-power_before_action")
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(("role", "own", "answer"), POWERS)
def test_powers_may_be_used_before_the_action_or_only_after_it(role: str, own: dict[str, Any], answer: str, before: bool) -> None:
    rules = using(GERMAN, role, power_before_action=before)
    rank = rules.roles.index(role)
    others = [name for name in rules.roles if name not in (role, "King")][:3]
    players = [seat(role, **own), seat(others[0], gold=7, hand=["Temple"], city=["Tavern"]), seat(others[1]), seat(others[2])]
    g = at(rules, players=players, called=rank)
    assert g.actor == 0
    assert (answer in g.legal()) == before
    assert answer in play(g.clone(), "take gold").legal()
    if before:
        assert answer not in play(g, answer).legal()  # once a turn


@pytest.mark.rule("O-power_before_action", "B-INCOME")
@pytest.mark.parametrize("before", [False, True])
def test_income_may_always_come_before_the_action(before: bool) -> None:
    assert "income" in table(seat("King", city=["Manor"]), rules=GERMAN.with_(power_before_action=before)).legal()


@pytest.mark.rule("B-POWER", "R1", "O-assassin_must_name", "O-thief_must_name", "X-5", "R-WITCH-8")
@pytest.mark.parametrize("must", [False, True])
@pytest.mark.parametrize("role", ["Assassin", "Thief"])
def test_naming_is_free_or_compulsory(role: str, must: bool) -> None:
    g = table(seat(role), rules=GERMAN.with_(**{f"{role.lower()}_must_name": must}))
    play(g, "take gold")
    assert ("end turn" in g.legal()) == (not must)
    play(g, "name King")
    assert g.legal() == ["end turn"]


@pytest.mark.rule("O-assassin_must_name", "O-thief_must_name", "X-5")
def test_the_duty_to_name_binds_only_the_role_it_is_for() -> None:
    for must, free in (("thief", ("Assassin", "Magician", "King")), ("assassin", ("Thief", "Magician", "King"))):
        for role in free:
            g = table(seat(role), rules=GERMAN.with_(**{f"{must}_must_name": True}))
            assert "end turn" in play(g, "take gold").legal()


@pytest.mark.rule("R2", "R32", "R-WITCH-8", "O-witch_must_name", "X-5", "P-3")
@pytest.mark.parametrize("must", [False, True])
def test_the_witch_must_name_or_may_decline(must: bool) -> None:
    g = table(seat("Witch"), rules=using(GERMAN, "Witch", witch_must_name=must))
    assert (g.question, set(g.legal())) == ("ACTION", {"take gold", "draw cards"})
    play(g, "take gold")
    assert g.question == "NAME"
    assert ("done" in g.legal()) == (not must)


def test_the_editions_leave_assassin_and_thief_free_and_bind_the_witch() -> None:
    for rules in (GERMAN, FRENCH, AMERICAN):
        assert (rules.assassin_must_name, rules.thief_must_name, rules.witch_must_name) == (False, False, True)


@pytest.mark.rule("O-merchant_bonus_timing", "R-MERCHANT", "R5", "P-3")
def test_the_merchant_takes_his_extra_gold_at_any_moment_at_the_start_or_after_the_action() -> None:
    start = {}
    for timing in ("any", "start", "after_action"):
        g = table(seat("Merchant", city=["Tavern"]), rules=GERMAN.with_(merchant_bonus_timing=timing), deck_top=["Temple", "Docks"])
        start[timing] = (g.gold[0], "use power" in g.legal())
        assert play(g.clone(), "take gold").gold[0] == (2 if timing == "any" else 3)
        drawn = play(g, "draw cards", "keep Temple")
        assert (drawn.gold[0], "use power" in drawn.legal()) == ((0, True) if timing == "any" else (1, False))
        assert play(drawn, "income").gold[0] == (1 if timing == "any" else 2)
    assert start == {"any": (0, True), "start": (1, False), "after_action": (0, False)}


@pytest.mark.rule("R5", "R6", "P-3", "O-merchant_bonus_timing")
def test_the_german_merchant_uses_his_power_before_his_action() -> None:
    g = table(seat("Merchant", city=["Tavern", "Docks"], hand=["Market"]))
    play(g, "use power")
    assert g.gold[0] == 1
    play(g, "income", "take gold", "build Market")
    assert g.gold[0] == 1 + 2 + 2 - 2
    assert "use power" not in g.legal()


@pytest.mark.rule("O-architect_cards_timing", "R-ARCHITECT", "P-3", "P-2")
def test_the_architect_takes_his_cards_at_any_moment_at_the_start_or_after_the_action() -> None:
    for timing in ("any", "start", "after_action"):
        g = table(seat("Architect"), rules=GERMAN.with_(architect_cards_timing=timing), deck_top=["Temple", "Market", "Docks"])
        assert g.hand(0) == (["Market", "Temple"] if timing == "start" else [])
        assert ("use power" in g.legal()) == (timing == "any")
        after = play(g.clone(), "take gold")
        assert len(after.hand(0)) == (0 if timing == "any" else 2)
        if timing == "any":
            play(g, "use power")
            assert (g.question, g.hand(0), "use power" in g.legal()) == ("PLAY", ["Market", "Temple"], False)


@pytest.mark.rule("O-architect_cards_timing")
def test_cards_after_the_action_come_when_the_drawn_card_is_kept() -> None:
    rules = GERMAN.with_(architect_cards_timing="after_action")
    g = table(seat("Architect"), rules=rules, deck_top=["Temple", "Market", "Docks", "Keep"])
    play(g, "draw cards", "keep Temple")
    assert g.hand(0) == ["Docks", "Keep", "Temple"]


def navigator(**options: Any) -> Game:
    rules = using(GERMAN, "Navigator", **options)
    return table(seat("Navigator", gold=9, hand=["Tavern", "Temple", "Docks"], city=["Laboratory"]), rules=rules)


@pytest.mark.rule("R-NAV", "P-3", "R85")
def test_the_navigator_takes_gold_or_cards_after_his_action_and_does_not_build() -> None:
    g = navigator()
    assert "take 4 gold" not in g.legal()
    assert "draw 4 cards" not in g.legal()
    play(g, "take gold")
    assert {"take 4 gold", "draw 4 cards", "end turn"} <= set(g.legal())
    gold = play(g.clone(), "take 4 gold")
    cards = play(g.clone(), "draw 4 cards")
    assert (gold.gold[0], len(gold.hand(0))) == (15, 3)
    assert (cards.gold[0], len(cards.hand(0)), cards.question) == (11, 7, "PLAY")
    for h in (g, gold, cards):
        assert texts(h, "build") == []
    for h in (gold, cards):
        assert texts(h, "take 4") + texts(h, "draw 4") == []


@pytest.mark.rule("O-navigator_can_never_build", "R2", "R85", "R-NAV")
@pytest.mark.parametrize("never", [False, True])
def test_a_navigator_may_build_instead_of_his_bonus_or_never(never: bool) -> None:
    g = play(navigator(navigator_can_never_build=never), "take gold")
    assert ("build Tavern" in g.legal()) == (not never)
    assert texts(play(g.clone(), "take 4 gold"), "build") == []
    if not never:
        play(g, "build Tavern")
        assert texts(g, "take 4") + texts(g, "draw 4") + texts(g, "build") == []


@pytest.mark.rule("O-navigator_bonus_ends_turn", "R86", "X-28", "R-NAV")
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("bonus", ["take 4 gold", "draw 4 cards"])
def test_the_navigators_turn_goes_on_after_his_bonus_or_is_over(ends: bool, bonus: str) -> None:
    g = play(navigator(navigator_bonus_ends_turn=ends), "take gold")
    assert "laboratory Tavern" in g.legal()
    play(g, bonus)
    assert (g.legal() == ["end turn"]) == ends
    assert ("laboratory Tavern" in g.legal()) == (not ends)


@pytest.mark.rule("O-retro_tax_roles", "R-TAX-2", "R54")
@pytest.mark.parametrize(("roles", "paid"), [((), 0), (("Assassin",), 1), (("Witch",), 0), (("Assassin", "Witch"), 1)])
def test_an_assassin_who_built_pays_when_the_tax_collector_appears(roles: tuple[str, ...], paid: int) -> None:
    rules = using(GERMAN, "Tax Collector", retro_tax_roles=roles)
    g = table(seat("Assassin", gold=5, hand=["Tavern"]), seat("Tax Collector"), rules=rules)
    play(g, "take gold", "build Tavern")
    assert g.gold[:2] == (6, 0)
    play(g, "end turn")
    assert (g.turn_role, g.gold[:2]) == ("Tax Collector", (6 - paid, paid))


@pytest.mark.rule("O-retro_tax_roles", "R-TAX-2", "R42", "I20")
@pytest.mark.parametrize(("roles", "paid"), [((), 0), (("Assassin",), 0), (("Witch",), 1), (("Assassin", "Witch"), 1)])
def test_a_witch_who_declined_and_built_pays_when_the_tax_collector_appears(roles: tuple[str, ...], paid: int) -> None:
    rules = using(GERMAN, "Tax Collector", "Witch", retro_tax_roles=roles, witch_must_name=False)
    g = table(seat("Witch", gold=5, hand=["Tavern"]), seat("Tax Collector"), rules=rules)
    play(g, "take gold", "done", "build Tavern", "end turn")
    assert (g.turn_role, g.gold[:2]) == ("Tax Collector", (6 - paid, paid))


@pytest.mark.rule("R-TAX-2", "R53")
def test_late_tax_is_not_owed_by_who_did_not_build_or_has_nothing_left() -> None:
    rules = using(GERMAN, "Tax Collector")
    idle = table(seat("Assassin", gold=5, hand=["Tavern"]), seat("Tax Collector"), rules=rules)
    assert play(idle, "take gold", "end turn").gold[:2] == (7, 0)
    poor = table(seat("Assassin", gold=1, hand=["Manor"]), seat("Tax Collector"), rules=rules)
    assert play(poor, "take gold", "build Manor", "end turn").gold[:2] == (0, 0)


@pytest.mark.rule("O-hospital_turn_end_effects", "X-15", "I10", "D-HOSPITAL")
@pytest.mark.parametrize("works", [False, True])
def test_poor_house_and_park_work_after_a_hospital_turn_or_not(works: bool) -> None:
    rules = GERMAN.with_(add_districts=("Hospital", "Poor House", "Park"), hospital_turn_end_effects=works)
    poor = table(seat("Assassin"), seat("Thief", city=["Hospital", "Poor House"]), rules=rules)
    play(poor, "name Thief", "take gold", "end turn", "draw cards")
    end_turn(poor)
    assert poor.gold[1] == int(works)
    park = table(seat("Assassin"), seat("Thief", city=["Hospital", "Park"]), rules=rules)
    play(park, "name Thief", "take gold", "end turn", "take gold")
    assert (park.question == "PARK") == works
    if works:
        play(park, "yes")
    assert len(park.hand(1)) == (2 if works else 0)


@pytest.mark.rule("O-cut_turn_end_effects", "X-15", "I21", "I22", "R50")
@pytest.mark.parametrize("works", [False, True])
def test_poor_house_and_park_work_after_cut_turns_or_not(works: bool) -> None:
    rules = using(GERMAN, "Witch", add_districts=("Poor House", "Park"), cut_turn_end_effects=works)
    first = table(seat("Witch", city=["Poor House"]), seat("Thief", city=["Park"]), rules=rules, deck_top=["Temple", "Market"])
    play(first, "draw cards", "keep Temple", "name Thief")
    assert first.gold[0] == int(works)
    assert (first.actor, first.question) == (1, "ACTION")
    play(first, "take gold")
    assert (first.actor, first.question) == ((1, "PARK") if works else (0, "PLAY"))
    second = table(seat("Witch", city=["Park"]), seat("Thief", city=["Poor House"]), rules=rules)
    play(second, "take gold", "name Thief")
    assert (second.actor, second.question) == ((0, "PARK") if works else (1, "ACTION"))


@pytest.mark.rule("X-15", "I22")
def test_the_witchs_resumed_turn_ends_like_any_other() -> None:
    rules = using(GERMAN, "Witch", add_districts=("Poor House", "Park"))
    g = table(seat("Witch", city=["Park"]), seat("King"), rules=rules)
    play(g, "take gold", "name King", "take gold")
    assert (g.actor, g.question, g.legal()) == (0, "PLAY", ["end turn"])
    play(g, "end turn")
    assert (g.actor, g.question, set(g.legal())) == (0, "PARK", {"yes", "no"})


# --- two roles each ----------------------------------------------------------------


@pytest.mark.rule("B-TWO-ROLES")
def test_two_roles_mean_two_turns_with_one_stock() -> None:
    g = at(players=[seat("Magician", "Warlord", hand=["Docks"], city=["Prison"]), seat("Thief", "Bishop")], called=2)
    play(g, "take gold", "end turn")
    assert (g.turn_role, g.actor) == ("Bishop", 1)
    end_turn(g)
    assert (g.turn_role, g.actor, g.gold[0]) == ("Warlord", 0, 2)
    play(g, "income", "take gold", "build Docks")
    assert (g.gold[0], g.city(0)) == (2, ["Docks", "Prison"])


@pytest.mark.rule("B-TWO-ROLES")
def test_powers_belong_to_the_turn_of_their_role() -> None:
    g = at(
        players=[seat("King", "Architect", gold=9, hand=["Tavern", "Temple", "Market", "Prison"], city=["Manor"]), seat("Thief", "Bishop")],
        called=2,
    )
    play(g, "take gold", "income", "build Tavern")
    assert texts(g, "build") == []
    reach(g, "Architect")
    play(g, "take gold")
    assert "income" not in g.legal()
    play(g, "build Temple", "build Market", "build Prison")
    assert g.city(0) == ["Manor", "Temple", "Tavern", "Market", "Prison"]


@pytest.mark.rule("B-TWO-ROLES", "O-museum_once_per_turn")
def test_once_a_turn_means_once_in_each_of_the_two_turns() -> None:
    rules = GERMAN.with_(add_districts=("Museum",))
    city = ["Laboratory", "Museum"]
    g = at(
        rules,
        players=[seat("King", "Architect", hand=["Tavern", "Temple", "Market", "Prison"], city=city), seat("Thief", "Bishop")],
        called=3,
    )
    play(g, "laboratory Tavern", "museum Temple")
    assert texts(g, "laboratory") + texts(g, "museum") == []
    reach(g, "Architect")
    play(g, "laboratory Market", "museum Prison")
    assert (g.museum(0), g.hand(0)) == (2, [])


@pytest.mark.rule("B-TWO-ROLES", "R7")
def test_robbery_takes_the_common_stock_when_the_named_role_is_called() -> None:
    g = at(players=[seat("Magician", "Warlord", gold=5), seat("Thief", "Bishop")], called=1)
    play(g, "name Warlord", "take gold", "end turn")
    assert (g.turn_role, g.gold) == ("Magician", (5, 2))
    reach(g, "Warlord")
    assert g.gold == (0, 5 + 2 + 2 + 2)


@pytest.mark.rule("B-TWO-ROLES", "B-REVEAL")
def test_a_murder_costs_one_of_the_two_turns() -> None:
    g = at(players=[seat("Magician", "Warlord"), seat("Assassin", "Bishop")])
    play(g, "name Magician", "take gold", "end turn")
    assert g.turn_role == "Bishop"
    end_turn(g)
    assert (g.turn_role, g.actor, g.gold[0], g.revealed(0)) == ("Warlord", 0, 0, ["Warlord"])


@pytest.mark.rule("B-TWO-ROLES", "R-BISHOP")
def test_the_bishop_guards_the_whole_city_of_a_player_with_two_roles() -> None:
    g = at(players=[seat("Thief", "Bishop", city=["Tavern"]), seat("Magician", "King"), seat("Assassin", "Warlord")], called=4)
    assert texts(reach(g, "Warlord"), "destroy") == []
    h = at(players=[seat("Thief", "Merchant", city=["Tavern"]), seat("Magician", "King"), seat("Assassin", "Warlord")], called=4)
    assert texts(reach(h, "Warlord"), "destroy") == ["destroy Tavern of player 0"]


@pytest.mark.rule("R-WITCH-7", "R39", "R-BISHOP")
@pytest.mark.parametrize("bishop", [0, 1, 2])
def test_a_bewitched_bishop_guards_the_witchs_city_wherever_they_sit(bishop: int) -> None:
    seats = [seat("Witch", city=["Temple"]), seat("Thief", city=["Docks"])]
    seats.insert(bishop, seat("Bishop", city=["Tavern"]))
    g = at(using(GERMAN, "Witch"), players=[*seats, seat("Warlord", gold=9)], called=7, bewitched="Bishop")
    witch = next(number for number in range(3) if g.city(number) == ["Temple"])
    assert {text.rsplit(" ", 1)[1] for text in texts(g, "destroy")} == {str(number) for number in range(3) if number != witch}


# --- the questions -------------------------------------------------------------------


@pytest.mark.rule("P-1")
def test_a_turn_is_one_question_in_any_order() -> None:
    city = ["Manor", "Laboratory", "Smithy"]
    g = table(seat("King", gold=5, hand=["Tavern", "Temple"], city=city), deck_top=["Docks", "Keep"])
    assert set(g.legal()) == {"take gold", "draw cards", "income", "laboratory Tavern", "laboratory Temple", "smithy"}
    for answer in ("smithy", "take gold", "build Docks", "laboratory Temple", "income"):
        assert g.question == "PLAY"
        play(g, answer)
    assert (g.question, g.legal(), g.gold[0]) == ("PLAY", ["end turn"], 5 - 3 + 2 - 3 + 1 + 1)
    play(g, "end turn")
    assert g.actor != 0


@pytest.mark.rule("P-2", "D-OBSERVATORY", "D-LIBRARY", "R30")
def test_each_kept_card_is_one_question() -> None:
    g = table(seat("King", city=["Observatory", "Library"]), deck_top=["Docks", "Keep", "Temple", "Tavern"])
    play(g, "draw cards")
    assert (g.question, set(g.legal())) == ("KEEP", {"keep Docks", "keep Keep", "keep Temple"})
    play(g, "keep Temple")
    assert (g.question, set(g.legal())) == ("KEEP", {"keep Docks", "keep Keep"})
    play(g, "keep Docks")
    assert (g.question, g.hand(0)) == ("PLAY", ["Docks", "Temple"])


@pytest.mark.rule("P-2", "D-LIBRARY")
def test_nothing_is_asked_if_all_drawn_cards_are_kept() -> None:
    g = table(seat("King", city=["Library"]), deck_top=["Docks", "Keep"])
    play(g, "draw cards")
    assert (g.question, g.hand(0)) == ("PLAY", ["Docks", "Keep"])


@pytest.mark.rule("P-9")
def test_a_question_with_one_answer_is_not_asked() -> None:
    g = table(seat("King"), deck_top=["Tavern", "Tavern"])
    play(g, "draw cards")
    assert (g.question, g.hand(0), g.legal()) == ("PLAY", ["Tavern"], ["end turn"])


@pytest.mark.rule("P-3")
def test_what_happens_by_itself_is_never_asked() -> None:
    rules = using(GERMAN, "Tax Collector", "Artist", add_districts=("Poor House", "Throne Room"))
    g = at(
        rules,
        players=[
            seat("Tax Collector", city=["Throne Room"]),
            seat("King", gold=1, hand=["Docks"], city=["Poor House"]),
            seat("Bishop"),
            seat("Artist"),
        ],
        crown=0,
    )
    reach(g, "King")
    assert g.gold[0] == 2 + 1  # the crown moved
    play(g, "take gold", "build Docks", "end turn")
    assert (g.turn_role, g.gold[:2]) == ("Bishop", (3, 1))  # nothing left to tax; the Poor House


@pytest.mark.rule("P-3", "X-27", "R-ABB-2")
def test_the_abbot_is_offered_his_coin_only_while_somebody_pays() -> None:
    rules = using(GERMAN, "Abbot")
    assert "use power" not in table(seat("Abbot", gold=3), seat("King", gold=3), rules=rules, called=4).legal()
    g = table(seat("Abbot", gold=3), seat("King", gold=4), rules=rules, called=4)
    play(g, "use power")
    assert g.gold[:2] == (4, 3)
    assert "use power" not in g.legal()


@pytest.mark.rule("P-3", "R-ABB-2")
@pytest.mark.parametrize("payer", [0, 1, 2, 3])
def test_the_abbots_coin_comes_from_whatever_seat_is_richest(payer: int) -> None:
    seats = [seat("Thief"), seat("Magician"), seat("King")]
    seats.insert((payer + 2) % 4, seat("Abbot"))
    seats[payer]["gold"] = 3
    g = play(at(using(GERMAN, "Abbot"), players=seats, called=4), "use power")
    assert (g.actor, g.gold[payer], g.gold[(payer + 2) % 4]) == ((payer + 2) % 4, 2, 1)


@pytest.mark.rule("P-4", "R-MAGICIAN")
def test_the_magician_discards_card_by_card_and_draws_when_done() -> None:
    g = table(seat("Magician", hand=["Docks", "Keep", "Tavern"]), seat("King", hand=["Palace"]), deck_top=["Temple", "Church"])
    assert set(texts(g, "discard")) == {"discard Docks", "discard Keep", "discard Tavern"}
    play(g, "discard Keep")
    assert (g.question, set(g.legal())) == ("DISCARD", {"discard Docks", "discard Tavern", "done"})
    play(g, "discard Docks", "done")
    assert (g.question, g.hand(0)) == ("PLAY", ["Church", "Tavern", "Temple"])
    assert texts(g, "discard") + texts(g, "swap") == []


@pytest.mark.rule("P-4", "R-MAGICIAN")
def test_the_magician_swaps_with_any_other_player() -> None:
    g = table(seat("Magician", hand=["Docks"]), seat("King", hand=["Palace", "Manor"]))
    assert texts(g, "swap") == ["swap hands with player 1", "swap hands with player 2", "swap hands with player 3"]
    play(g, "swap hands with player 1")
    assert (g.hand(0), g.hand(1)) == (["Manor", "Palace"], ["Docks"])
    assert texts(g, "discard") + texts(g, "swap") == []


@pytest.mark.rule("R-MAGICIAN", "D-PARK", "D-MAP")
def test_after_a_swap_the_size_of_a_hand_is_that_of_the_cards_received() -> None:
    rules = GERMAN.with_(add_districts=("Park", "Map Room"))
    g = table(seat("Magician", hand=["Docks"], city=["Park"]), seat("King", city=["Map Room"]), rules=rules)
    play(g, "take gold", "swap hands with player 1", "end turn")
    assert (g.actor, g.question) == (0, "PARK")
    assert g.scores()[1] == 5 + 1


@pytest.mark.rule("P-5", "R-WIZ-1", "R-WIZ-2")
def test_the_wizard_looks_takes_and_builds_in_three_answers() -> None:
    rules = using(GERMAN, "Wizard")
    g = table(seat("Wizard", gold=3, hand=["Tavern"]), seat("King", hand=["Manor", "Palace"]), rules=rules)
    assert set(g.legal()) == {"look at player 1", "take gold", "draw cards"}  # nobody else has cards
    play(g, "look at player 1")
    assert (g.question, set(g.legal())) == ("WIZARD_TAKE", {"take Manor", "take Palace", "done"})
    dear = play(g.clone(), "take Palace")
    assert (dear.question, dear.hand(0)) == ("PLAY", ["Palace", "Tavern"])  # too dear to build now
    play(g, "take Manor")
    assert (g.question, set(g.legal())) == ("WIZARD_BUILD", {"build Manor", "done"})
    kept = play(g.clone(), "done")
    assert (kept.hand(0), kept.city(0)) == (["Manor", "Tavern"], [])
    play(g, "build Manor", "take gold", "build Tavern")
    assert (g.city(0), g.gold[0], g.hand(1)) == (["Manor", "Tavern"], 1, ["Palace"])


@pytest.mark.rule("P-6", "R-WARLORD")
def test_the_warlord_names_district_and_owner_at_once() -> None:
    g = at(
        players=[
            seat("Warlord", gold=2),
            seat("King", city=["Tavern", "Manor"]),
            seat("Thief", city=["Tavern", "Castle"]),
            seat("Magician"),
        ],
        called=7,
    )
    assert set(texts(g, "destroy")) == {"destroy Tavern of player 1", "destroy Manor of player 1", "destroy Tavern of player 2"}
    play(g, "destroy Manor of player 1")
    assert (g.gold[0], g.city(1), texts(g, "destroy")) == (0, ["Tavern"], [])


@pytest.mark.rule("P-6", "D-POWDER")
def test_the_powder_tower_names_district_and_owner_at_once() -> None:
    rules = GERMAN.with_(add_districts=("Powder Tower",))
    g = table(seat("King", city=["Powder Tower", "Manor"]), seat("Warlord", city=["Keep"]), seat("Bishop", city=["Temple"]), rules=rules)
    assert set(texts(g, "blow up")) == {"blow up Keep of player 1", "blow up Temple of player 2"}
    play(g, "blow up Keep of player 1")
    assert (g.city(0), g.city(1), g.discard_size) == (["Manor"], [], 2)


@pytest.mark.rule("P-6", "R-DIP-2")
def test_the_diplomat_offers_first_and_then_names_what_he_wants() -> None:
    rules = using(GERMAN, "Diplomat")
    players = [
        seat("Diplomat", gold=1, city=["Tavern", "Docks"]),
        seat("King", city=["Market", "Castle"]),
        seat("Thief", city=["Temple"]),
        seat("Magician"),
    ]
    g = at(rules, players=players, called=7)
    assert set(texts(g, "offer")) == {"offer Tavern", "offer Docks"}
    play(g, "offer Docks")
    assert g.question == "EXCHANGE"
    assert set(texts(g, "exchange")) == {
        "exchange for Market of player 1",
        "exchange for Castle of player 1",
        "exchange for Temple of player 2",
    }
    play(g, "exchange for Castle of player 1")
    assert (g.city(0), g.city(1), g.gold[:2]) == (["Castle", "Tavern"], ["Market", "Docks"], (0, 1))
    assert texts(g, "offer") == []


@pytest.mark.rule("P-7", "R-ART-1")
def test_the_artist_beautifies_up_to_two_districts() -> None:
    rules = using(GERMAN, "Artist")
    g = at(
        rules, players=[seat("Artist", gold=5, city=["Tavern", "Docks", "Keep"]), seat("King"), seat("Thief"), seat("Magician")], called=8
    )
    play(g, "beautify Docks")
    assert set(texts(g, "beautify")) == {"beautify Tavern", "beautify Keep"}
    play(g, "beautify Keep")
    assert (g.city(0), g.gold[0], texts(g, "beautify")) == (["Tavern", "Docks*", "Keep*"], 3, [])


@pytest.mark.rule("P-7", "D-LAB", "D-MUSEUM", "D-SMITHY")
def test_laboratory_and_museum_name_a_card_and_the_smithy_does_not() -> None:
    rules = GERMAN.with_(add_districts=("Museum",))
    g = table(seat("King", gold=3, hand=["Tavern", "Docks"], city=["Laboratory", "Smithy", "Museum"]), rules=rules)
    for verb in ("laboratory", "museum"):
        assert set(texts(g, verb)) == {f"{verb} Tavern", f"{verb} Docks"}
    assert texts(g, "smithy") == ["smithy"]


@pytest.mark.rule("P-8", "D-LIGHT")
def test_the_lighthouse_is_answered_by_a_card_or_declined() -> None:
    rules = GERMAN.with_(add_districts=("Lighthouse",))
    g = table(seat("King", gold=3, hand=["Lighthouse"]), rules=rules)
    play(g, "take gold", "build Lighthouse")
    assert g.question == "LIGHTHOUSE"
    assert {"take Palace", "done"} <= set(g.legal())
    assert all(text == "done" or text.startswith("take ") for text in g.legal())
    assert play(g, "take Palace").hand(0) == ["Palace"]


@pytest.mark.rule("P-8", "D-BELL", "O-bell_tower_choice")
def test_the_bell_tower_is_answered_by_a_number() -> None:
    g = table(seat("King", gold=5, hand=["Bell Tower"]), rules=GERMAN.with_(add_districts=("Bell Tower",)))
    play(g, "take gold", "build Bell Tower")
    assert (g.question, set(g.legal())) == ("BELL_TOWER", {"end at 7", "end at 8"})
    assert play(g.clone(), "end at 7").districts_to_end == 7
    assert play(g, "end at 8").districts_to_end == 8


@pytest.mark.rule("P-8", "D-GRAVEYARD")
def test_the_graveyard_is_answered_by_yes_or_no() -> None:
    players = [seat("Warlord", gold=2), seat("King", city=["Manor"]), seat("Thief", gold=1, city=["Graveyard"]), seat("Magician")]
    g = play(at(players=players, called=7), "destroy Manor of player 1")
    assert (g.actor, g.question, set(g.legal())) == (2, "GRAVEYARD", {"yes", "no"})
    saved = play(g.clone(), "yes")
    assert (saved.hand(2), saved.gold[2], saved.discard_size, saved.actor, saved.question) == (["Manor"], 0, 0, 0, "PLAY")
    lost = play(g, "no")
    assert (lost.hand(2), lost.gold[2], lost.discard_size, lost.actor) == ([], 1, 1, 0)


@pytest.mark.rule("P-8", "D-GRAVEYARD")
@pytest.mark.parametrize("owner", [0, 1, 2])
def test_the_graveyards_owner_is_asked_wherever_he_sits(owner: int) -> None:
    seats = [
        seat(role, gold=1, city=["Graveyard"] if number == owner else ["Tavern"])
        for number, role in enumerate(("Thief", "Magician", "King"))
    ]
    g = at(players=[*seats, seat("Warlord")], called=7)
    play(g, texts(g, "destroy Tavern")[0])
    assert (g.actor, g.question) == (owner, "GRAVEYARD")


@pytest.mark.rule("P-8", "D-PARK", "R130")
def test_the_park_is_answered_by_yes_or_no() -> None:
    rules = GERMAN.with_(add_districts=("Park",))
    g = table(seat("King", city=["Park"]), rules=rules, deck_top=["Temple", "Docks"])
    play(g, "take gold", "end turn")
    assert (g.actor, g.question, set(g.legal())) == (0, "PARK", {"yes", "no"})
    assert play(g.clone(), "no").hand(0) == []
    play(g, "yes")
    assert g.hand(0) == ["Docks", "Temple"]
    full = table(seat("King", city=["Park"], hand=["Keep"]), rules=rules)
    assert play(full, "take gold", "end turn").actor != 0


@pytest.mark.rule("P-8", "R-EMP-2", "R-EMP-4")
def test_the_emperor_names_a_player_who_answers_with_gold_or_a_card() -> None:
    rules = using(GERMAN, "Emperor", emperor_tribute="payer_chooses")
    g = at(
        rules, players=[seat("Emperor"), seat("Thief", gold=1, hand=["Docks", "Keep"]), seat("Bishop"), seat("Magician")], crown=3, called=3
    )
    assert (g.actor, g.question) == (0, "CROWN")
    assert g.legal() == ["crown player 1", "crown player 2", "crown player 3"]
    play(g, "crown player 1")
    assert (g.actor, g.question, set(g.legal())) == (1, "TRIBUTE", {"give gold", "give Docks", "give Keep"})
    play(g, "give Keep")
    assert (g.actor, g.question, g.hand(0), g.hand(1)) == (0, "PLAY", ["Keep"], ["Docks"])


@pytest.mark.rule("P-8", "P-9", "D-BALL")
def test_the_ballroom_is_answered_by_thanks_or_silence() -> None:
    rules = GERMAN.with_(add_districts=("Ballroom",))
    g = table(seat("King"), seat("Bishop", city=["Ballroom"]), rules=rules, crown=1, called=3)
    assert (g.actor, g.question, set(g.legal())) == (0, "THANK", {"thank", "stay silent"})
    assert play(g.clone(), "thank").question == "PLAY"
    play(g, "stay silent")
    assert g.actor != 0


@pytest.mark.rule("P-10")
def test_texts_name_seats_and_indices_count_from_the_actor() -> None:
    indices = []
    for actor in range(4):
        players = [seat(name, hand=["Docks"]) for name in ("King", "Bishop", "Merchant")]
        players.insert(actor, seat("Magician"))
        g = at(players=players)
        assert (g.actor, g.turn_role) == (actor, "Magician")
        by_text = dict(zip(g.legal(), g.legal_indices(), strict=True))
        indices.append([int(by_text[f"swap hands with player {(actor + k) % 4}"]) for k in (1, 2, 3)])
        assert g.mask().nonzero()[0].tolist() == sorted(by_text.values())
    assert indices == [indices[0]] * 4


@pytest.mark.rule("P-8")
def test_an_illegal_answer_is_refused_with_the_legal_ones() -> None:
    g = table(seat("King"))
    before = g.observation(0).copy()
    with pytest.raises(ValueError, match=r"build Palace.*take gold"):
        g.play("build Palace")
    assert (g.observation(0) == before).all()
    assert set(g.legal()) == {"take gold", "draw cards"}


@pytest.mark.rule("B-SETUP")
def test_a_round_leaves_everything_but_roles_as_it_was() -> None:
    g = at(players=[seat("Warlord", gold=3, city=["Docks"]), seat("Magician"), seat("Bishop", hand=["Keep"]), seat("Thief")], round=4)
    finish(g)
    assert (g.round_number, g.gold, g.city(0), g.hand(2)) == (5, (5, 2, 2, 2), ["Docks"], ["Keep"])
