"""Rulings R31 to R50: the Witch, her two half turns, and the bewitched role."""

from typing import Any

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Game, Rules
from role_helpers import BASE, RANK, askers, draw, editions, every_edition, player, with_roles
from rules_helpers import at, end_turn, finish, play, reach, texts


def bewitch(
    rules: Rules,
    role: str,
    *,
    witch: dict[str, Any] | None = None,
    victim: dict[str, Any] | None = None,
    others: tuple[dict[str, Any], ...] = (),
    options: dict[str, Any] | None = None,
    **position: Any,
) -> Game:
    """The Witch (seat 0) took 2 gold and named `role`, which seat 1 holds; it is called and asked for its action.

    Seats 2 and 3 hold other base roles unless `others` says otherwise.
    """
    if not others:
        free = [name for name in ("Merchant", "Magician", "Bishop") if RANK[name] != RANK[role]]
        others = (player(free[0]), player(free[1]))
    names = ["Witch", role] + [name for other in others for name in other["roles"]]
    rules = with_roles(rules, *names, players=2 + len(others), **(options or {}))
    seats = [player("Witch", **(witch or {})), player(role, **(victim or {})), *others]
    g = at(rules, players=seats, **{"crown": 0, **position})
    play(g, "take gold", f"name {role}")
    finish(g, lambda g: g.actor == 1)
    assert (g.question, g.actor, g.turn_role) == ("ACTION", 1, role)
    return g


def resume(rules: Rules, role: str, **position: Any) -> Game:
    """The Witch plays on after the bewitched `role` took 2 gold."""
    g = bewitch(rules, role, **position)
    g.play("take gold")
    assert g.actor == 0
    return g


# --- her first half -------------------------------------------------------------------------


@pytest.mark.rule("R31", "R-WITCH-1")
@every_edition
def test_the_witch_takes_her_action_then_names_and_is_cut_without_building(rules: Rules) -> None:
    rules = with_roles(rules, "Witch")
    players = [player("Witch", gold=5, hand=("Temple",)), player("King"), player("Bishop"), player("Warlord")]
    g = at(rules, players=players)
    assert g.question == "ACTION"
    assert set(g.legal()) == {"take gold", "draw cards"}
    g.play("take gold")
    assert (g.question, g.actor) == ("NAME", 0)
    assert set(g.legal()) == {f"name {role}" for role in BASE[1:]}
    g.play("name Bishop")
    assert (g.actor, g.turn_role) == (1, "King")
    assert g.city(0) == []
    assert g.hand(0) == ["Temple"]
    assert g.gold[0] == 7


@pytest.mark.rule("R31")
@every_edition
def test_the_witch_who_draws_keeps_her_card_before_she_names(rules: Rules) -> None:
    rules = with_roles(rules, "Witch")
    g = at(rules, deck_top=["Temple", "Manor"], players=[player("Witch"), player("King"), player("Bishop"), player("Warlord")])
    g.play("draw cards")
    assert (g.question, set(g.legal())) == ("KEEP", {"keep Temple", "keep Manor"})
    g.play("keep Manor")
    assert g.question == "NAME"
    assert g.hand(0) == ["Manor"]


@pytest.mark.rule("R32", "R-WITCH-8")
@every_edition
def test_the_witch_must_name_a_role(rules: Rules) -> None:
    assert rules.witch_must_name
    g = at(with_roles(rules, "Witch"), players=[player("Witch"), player("King"), player("Bishop"), player("Warlord")])
    g.play("take gold")
    assert len(g.legal()) == 7
    assert all(text.startswith("name ") for text in g.legal())


@pytest.mark.rule("R32", "X-16", "I20", "R-WITCH-8", "O-witch_must_name")
@every_edition
def test_a_witch_who_may_decline_plays_a_normal_turn_without_a_power(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", witch_must_name=False)
    players = [player("Witch", gold=1, city=("Manor",), hand=("Temple", "Tavern")), player("King"), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, players=players)
    g.play("take gold")
    assert set(g.legal()) == {f"name {role}" for role in BASE[1:]} | {"done"}
    g.play("done")
    assert (g.question, g.actor) == ("PLAY", 0)
    assert set(g.legal()) == {"build Temple", "build Tavern", "end turn"}
    play(g, "build Temple")
    assert g.legal() == ["end turn"]
    g.play("end turn")
    assert 0 not in askers(g)
    assert g.gold[0] == 2
    assert g.city(0) == ["Manor", "Temple"]


@pytest.mark.rule("X-16", "I20")
@every_edition
def test_poor_house_and_park_work_after_the_turn_of_a_witch_who_declined(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", witch_must_name=False, add_districts=("Poor House", "Park"))
    witch = player("Witch", hand=("Market",), city=("Poor House", "Park"))
    g = at(rules, crown=1, players=[witch, player("King"), player("Bishop"), player("Warlord")])
    play(g, "take gold", "done", "build Market", "end turn")
    assert g.gold[0] == 1
    assert (g.question, g.actor) == ("PARK", 0)


# --- the bewitched turn ---------------------------------------------------------------------


@pytest.mark.rule("R33", "R-WITCH-2")
@every_edition
@pytest.mark.parametrize("role", [name for name in RANK if name not in ("Assassin", "Witch", "Queen")])
def test_the_bewitched_role_shows_itself_takes_its_action_and_no_more(rules: Rules, role: str) -> None:
    victim = {"gold": 5, "city": ("Manor", "Temple", "Tavern", "Watchtower"), "hand": ("Church",)}
    g = bewitch(rules, role, victim=victim)
    assert g.revealed(1) == [role]
    assert g.gold[1] == 5
    assert set(g.legal()) == {"take gold", "draw cards"}
    g.play("take gold")
    assert g.actor == 0
    assert g.gold[1] == 7
    assert g.hand(1) == ["Church"]
    assert g.city(1) == ["Manor", "Temple", "Tavern", "Watchtower"]


@pytest.mark.rule("R33")
@every_edition
def test_the_bewitched_role_may_draw_and_keep_a_card(rules: Rules) -> None:
    g = bewitch(rules, "King", victim={"gold": 5}, deck_top=["Temple", "Manor"])
    play(g, "draw cards", "keep Temple")
    assert g.actor == 0
    assert g.hand(1) == ["Temple"]
    assert g.gold[1] == 5


# --- her second half ------------------------------------------------------------------------


@pytest.mark.rule("R34", "R-WITCH-3")
@every_edition
def test_in_her_second_half_the_witch_uses_her_own_gold_hand_and_city(rules: Rules) -> None:
    witch = {"gold": 1, "hand": ("Temple", "Palace"), "city": ("Manor",)}
    victim = {"gold": 9, "hand": ("Tavern", "Castle"), "city": ("Manor", "Castle")}
    g = resume(rules, "King", witch=witch, victim=victim)
    assert g.question == "PLAY"
    assert set(g.legal()) == {"income", "build Temple", "end turn"}
    play(g, "income", "build Temple")
    assert g.gold[:2] == (1 + 2 + 1 - 1, 11)
    assert g.city(0) == ["Manor", "Temple"]
    assert g.hand(0) == ["Palace"]
    assert g.legal() == ["end turn"]
    assert sorted(g.hand(1)) == ["Castle", "Tavern"]
    assert g.city(1) == ["Manor", "Castle"]


@pytest.mark.rule("R35", "R-WITCH-3")
@every_edition
def test_the_witch_has_the_merchants_gold_and_his_player_has_not(rules: Rules) -> None:
    g = resume(
        rules,
        "Merchant",
        witch={"city": ("Docks",)},
        victim={"city": ("Tavern", "Market")},
        others=(player("King"), player("Bishop")),
    )
    if rules.merchant_bonus_timing == "any":
        assert g.gold[0] == 2
        g.play("use power")
    assert g.gold[0] == 3
    assert "use power" not in g.legal()
    g.play("income")
    assert g.gold[0] == 4
    end_turn(g)
    assert g.gold[0] == 4
    assert g.gold[1] == 2


@pytest.mark.rule("R35", "R-WITCH-3")
@every_edition
def test_the_witch_has_the_architects_two_cards_and_three_builds_and_his_player_has_not(rules: Rules) -> None:
    witch = {"gold": 10, "hand": ("Temple", "Tavern", "Watchtower", "Market")}
    victim = {"gold": 5, "hand": ("Docks",)}
    g = resume(rules, "Architect", witch=witch, victim=victim, deck_top=["Manor", "Castle", "Palace"])
    assert g.hand(1) == ["Docks"]
    if rules.architect_cards_timing == "any":
        assert len(g.hand(0)) == 4
        g.play("use power")
    assert sorted(g.hand(0)) == ["Castle", "Manor", "Market", "Tavern", "Temple", "Watchtower"]
    assert "use power" not in g.legal()
    play(g, "build Temple", "build Tavern", "build Watchtower")
    assert g.legal() == ["end turn"]
    assert g.gold[0] == 12 - 3
    assert g.city(1) == []


@pytest.mark.rule("R36", "R-WITCH-5")
@every_edition
def test_the_bewitched_kings_player_has_the_crown_and_the_witch_the_income_of_her_nobles(rules: Rules) -> None:
    g = bewitch(rules, "King", witch={"city": ("Manor", "Castle")}, victim={"city": ("Palace",)}, crown=2)
    assert g.crown == 1
    g.play("take gold")
    assert (g.question, g.actor) == ("PLAY", 0)
    g.play("income")
    assert g.gold[0] == 4
    assert g.gold[1] == 2
    assert "income" not in g.legal()
    finish(g)
    assert g.crown == 1
    assert (g.question, g.actor) == ("DRAFT", 1)


EMPEROR_OTHERS = (player("Bishop"), player("Warlord", gold=1, hand=("Temple",)))


@pytest.mark.rule("R37", "R-WITCH-5", "X-18", "O-bewitched_emperor_crown")
@every_edition
def test_the_witch_passes_the_crown_of_the_bewitched_emperor(rules: Rules) -> None:
    g = bewitch(rules, "Emperor", others=EMPEROR_OTHERS, crown=2)
    assert g.crown == 2
    g.play("take gold")
    assert (g.question, g.actor, g.crown) == ("CROWN", 0, 2)
    expected = (
        {"crown player 1", "crown player 2", "crown player 3"} if rules.emperor_may_return_crown else {"crown player 1", "crown player 3"}
    )
    assert set(g.legal()) == expected
    g.play("crown player 1")
    assert g.crown == 1
    finish(g, lambda g: g.question == "PLAY")
    assert g.actor == 0


@pytest.mark.rule("R37", "O-bewitched_emperor_crown")
@every_edition
def test_the_bewitched_emperors_player_passes_the_crown_if_the_option_says_so(rules: Rules) -> None:
    options = {"bewitched_emperor_crown": "emperor_player", "emperor_tribute": "none"}
    rules = with_roles(rules, "Witch", "Emperor", **options)
    g = at(rules, crown=2, players=[player("Witch"), player("Emperor"), player("Bishop"), player("Warlord")])
    play(g, "take gold", "name Emperor")
    assert (g.question, g.actor) == ("CROWN", 1)
    expected = {"crown player 0", "crown player 3"} | ({"crown player 2"} if rules.emperor_may_return_crown else set())
    assert set(g.legal()) == expected
    g.play("crown player 3")
    assert g.crown == 3
    assert (g.question, g.actor) == ("ACTION", 1)
    g.play("take gold")
    assert (g.question, g.actor) == ("PLAY", 0)
    finish(g)
    assert g.crown == 3


@pytest.mark.rule("R38", "X-18")
@editions("french", "american")
@pytest.mark.parametrize("tribute", ["give gold", "give Temple"])
def test_the_tribute_for_the_bewitched_emperors_crown_is_the_witchs(rules: Rules, tribute: str) -> None:
    g = resume(rules, "Emperor", others=EMPEROR_OTHERS, crown=2)
    g.play("crown player 3")
    assert (g.question, g.actor) == ("TRIBUTE", 3)
    assert set(g.legal()) == {"give gold", "give Temple"}
    g.play(tribute)
    assert (g.question, g.actor) == ("PLAY", 0)
    if tribute == "give gold":
        assert g.gold == (3, 2, 0, 0)
        assert g.hand(3) == ["Temple"]
    else:
        assert g.gold == (2, 2, 0, 1)
        assert g.hand(3) == []
        assert g.hand(0) == ["Temple"]
    assert g.hand(1) == []


@pytest.mark.rule("R39", "R-WITCH-7")
@every_edition
def test_with_the_bishop_bewitched_the_witchs_city_is_safe_from_the_warlord_and_the_bishops_is_not(rules: Rules) -> None:
    others = (player("Merchant", city=("Market",)), player("Warlord", gold=10))
    g = bewitch(rules, "Bishop", witch={"city": ("Temple",)}, victim={"city": ("Church",)}, others=others)
    reach(g, "Warlord")
    g.play("take gold")
    assert set(texts(g, "destroy")) == {"destroy Church of player 1", "destroy Market of player 2"}


@pytest.mark.rule("R39", "R-WITCH-7")
@every_edition
def test_with_the_bishop_bewitched_the_witchs_city_is_safe_from_the_diplomat_and_the_bishops_is_not(rules: Rules) -> None:
    others = (player("Merchant", city=("Market",)), player("Diplomat", gold=10, city=("Tavern",)))
    g = bewitch(rules, "Bishop", witch={"city": ("Temple",)}, victim={"city": ("Church",)}, others=others)
    reach(g, "Diplomat")
    play(g, "take gold", "offer Tavern")
    assert set(texts(g, "exchange for")) == {"exchange for Church of player 1", "exchange for Market of player 2"}


@pytest.mark.rule("R40", "R-WITCH-7")
@every_edition
def test_with_the_tax_collector_bewitched_taxes_are_paid_to_the_witch(rules: Rules) -> None:
    others = (player("King", gold=1, hand=("Temple",)), player("Warlord"))
    g = bewitch(rules, "Tax Collector", others=others)
    reach(g, "King")
    assert g.gold[:3] == (2, 2, 1)
    play(g, "take gold", "build Temple", "end turn")
    assert g.gold[:3] == (3, 2, 1)


@pytest.mark.rule("R41")
@every_edition
def test_the_witch_who_builds_in_her_second_half_pays_the_tax_with_her_own_gold(rules: Rules) -> None:
    others = (player("Tax Collector"), player("Warlord"))
    g = resume(rules, "King", witch={"gold": 1, "hand": ("Temple",)}, victim={"gold": 5}, others=others)
    assert g.gold[:3] == (3, 7, 2)
    play(g, "build Temple")
    assert g.gold[:3] == (2, 7, 2)
    end_turn(g)
    assert g.gold[:3] == (1, 7, 3)


@pytest.mark.rule("R42", "R-TAX-2", "O-retro_tax_roles")
@pytest.mark.parametrize(("rules", "tax"), [(GERMAN, 1), (FRENCH, 0), (AMERICAN, 0)], ids=["german", "french", "american"])
def test_a_witch_who_declined_and_built_pays_the_later_tax_collector_only_in_the_german_edition(rules: Rules, tax: int) -> None:
    rules = with_roles(rules, "Witch", "Tax Collector", witch_must_name=False)
    g = at(rules, players=[player("Witch", gold=3, hand=("Temple",)), player("Tax Collector"), player("King"), player("Bishop")])
    play(g, "take gold", "done", "build Temple", "end turn")
    assert g.turn_role == "Tax Collector"
    assert g.gold[:2] == (4 - tax, tax)


@pytest.mark.rule("R42")
@every_edition
def test_a_witch_who_named_has_built_nothing_that_the_tax_collector_could_tax_at_his_reveal(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", "Tax Collector")
    g = at(rules, players=[player("Witch", gold=3, hand=("Temple",)), player("Tax Collector"), player("King"), player("Bishop")])
    play(g, "take gold", "name Bishop")
    assert g.turn_role == "Tax Collector"
    assert g.gold[:2] == (5, 0)


@pytest.mark.rule("R43")
@every_edition
def test_the_witch_with_the_navigator_bewitched_has_his_bonus_and_cannot_build(rules: Rules) -> None:
    g = resume(rules, "Navigator", witch={"gold": 5, "hand": ("Temple",)}, deck_top=["Manor", "Castle", "Palace", "Docks"])
    assert set(g.legal()) == {"take 4 gold", "draw 4 cards", "end turn"}

    cards = g.clone()
    cards.play("draw 4 cards")
    assert sorted(cards.hand(0)) == ["Castle", "Docks", "Manor", "Palace", "Temple"]
    assert cards.gold[:2] == (7, 2)

    g.play("take 4 gold")
    assert g.gold[:2] == (11, 2)
    assert texts(g, "build") == []
    end_turn(g)
    assert g.city(0) == []


@pytest.mark.rule("R44")
@every_edition
def test_the_witch_with_the_alchemist_bewitched_gets_back_what_she_spent_on_building(rules: Rules) -> None:
    g = resume(rules, "Alchemist", witch={"gold": 3, "hand": ("Docks",)}, others=(player("King"), player("Bishop")))
    g.play("build Docks")
    assert g.gold[0] == (5 if rules.alchemist_refund == "immediate" else 2)
    end_turn(g)
    assert g.gold[:2] == (5, 2)


@pytest.mark.rule("R45")
@every_edition
def test_the_witch_with_the_abbot_bewitched_has_his_income_and_the_coin_of_the_richest(rules: Rules) -> None:
    others = (player("Merchant", gold=9), player("Warlord"))
    g = resume(rules, "Abbot", witch={"city": ("Temple",)}, victim={"city": ("Church", "Cathedral")}, others=others)
    play(g, "income", "use power")
    assert g.gold == (4, 2, 8, 0)
    assert "use power" not in g.legal()
    assert "income" not in g.legal()


@pytest.mark.rule("R45")
@every_edition
def test_the_bewitched_abbot_himself_may_be_the_richest_who_pays_the_witch(rules: Rules) -> None:
    g = resume(rules, "Abbot", victim={"gold": 9}, others=(player("Merchant", gold=9), player("Warlord")))
    g.play("use power")
    assert g.gold == (3, 10, 9, 0)


@pytest.mark.rule("R45")
@every_edition
def test_the_witch_with_the_abbot_bewitched_has_no_coin_if_she_is_richest_herself(rules: Rules) -> None:
    g = resume(rules, "Abbot", witch={"gold": 9}, victim={"gold": 3}, others=(player("Merchant", gold=9), player("Warlord")))
    assert g.legal() == ["end turn"]


@pytest.mark.rule("R45")
@every_edition
def test_the_witch_with_the_artist_bewitched_beautifies_her_own_city(rules: Rules) -> None:
    g = resume(rules, "Artist", witch={"city": ("Temple",)}, victim={"city": ("Tavern",), "gold": 4})
    assert texts(g, "beautify") == ["beautify Temple"]
    g.play("beautify Temple")
    assert g.city(0) == ["Temple*"]
    assert g.city(1) == ["Tavern"]
    assert g.gold[:2] == (1, 6)


@pytest.mark.rule("R45")
@every_edition
def test_the_witch_with_the_warlord_bewitched_destroys_with_her_own_gold(rules: Rules) -> None:
    others = (player("King", city=("Castle",)), player("Magician"))
    witch = {"gold": 2, "city": ("Watchtower",)}
    g = resume(rules, "Warlord", witch=witch, victim={"gold": 9, "city": ("Prison", "Fortress")}, others=others)
    g.play("income")
    assert g.gold[0] == 5
    own = {"destroy Watchtower of player 0"} if rules.warlord_own_city else set()
    targets = {"destroy Prison of player 1", "destroy Fortress of player 1", "destroy Castle of player 2"}
    assert set(texts(g, "destroy")) == own | targets
    g.play("destroy Castle of player 2")
    assert g.gold[:2] == (2, 11)
    assert g.city(2) == []
    assert texts(g, "destroy") == []


@pytest.mark.rule("R45", "X-22")
@every_edition
@pytest.mark.parametrize(("owner", "asked"), [("witch", False), ("victim", True)])
def test_for_the_graveyard_the_witch_with_the_warlord_bewitched_is_the_warlord(rules: Rules, owner: str, asked: bool) -> None:
    graveyard: dict[str, Any] = {owner: {"gold": 2, "city": ("Graveyard",)}}
    g = resume(rules, "Warlord", others=(player("King", city=("Tavern", "Temple")), player("Magician")), **graveyard)
    g.play("destroy Tavern of player 2")
    assert (g.question, g.actor) == (("GRAVEYARD", 1) if asked else ("PLAY", 0))
    assert g.hand(0) == []


@pytest.mark.rule("R45")
@every_edition
def test_the_witch_with_the_diplomat_bewitched_exchanges_her_own_district(rules: Rules) -> None:
    others = (player("King", city=("Castle",)), player("Magician"))
    witch = {"gold": 1, "city": ("Tavern",)}
    g = resume(rules, "Diplomat", witch=witch, victim={"gold": 9, "city": ("Prison",)}, others=others)
    king = g.gold[2]
    assert texts(g, "offer") == ["offer Tavern"]
    g.play("offer Tavern")
    assert set(texts(g, "exchange for")) == {"exchange for Prison of player 1", "exchange for Castle of player 2"}
    g.play("exchange for Castle of player 2")
    assert g.city(0) == ["Castle"]
    assert g.city(2) == ["Tavern"]
    assert g.gold[:3] == (0, 11, king + 3)


@pytest.mark.rule("R45")
@every_edition
def test_the_witch_with_the_wizard_bewitched_takes_a_card_and_may_build_it_beside_her_own(rules: Rules) -> None:
    others = (player("King", hand=("Temple", "Docks")), player("Bishop"))
    witch = {"gold": 2, "hand": ("Tavern",)}
    g = resume(rules, "Wizard", witch=witch, victim={"gold": 9, "hand": ("Manor",)}, others=others)
    assert set(texts(g, "look at")) == {"look at player 1", "look at player 2"}
    play(g, "look at player 2", "take Docks", "build Docks", "build Tavern")
    assert g.city(0) == ["Tavern", "Docks"]
    assert g.hand(2) == ["Temple"]
    assert g.gold[:2] == (0, 11)
    assert g.city(1) == []


@pytest.mark.rule("R45", "I24")
@every_edition
def test_the_witch_with_the_magician_bewitched_swaps_her_own_hand_also_with_the_bewitched_player(rules: Rules) -> None:
    others = (player("King", hand=("Docks",)), player("Bishop"))
    g = resume(rules, "Magician", witch={"hand": ("Tavern",)}, victim={"hand": ("Manor", "Castle")}, others=others)
    assert "discard Tavern" in g.legal()
    g.play("swap hands with player 1")
    assert sorted(g.hand(0)) == ["Castle", "Manor"]
    assert g.hand(1) == ["Tavern"]
    assert g.hand(2) == ["Docks"]


@pytest.mark.rule("R45", "I23")
@every_edition
def test_the_witch_with_the_thief_bewitched_names_the_victim_and_has_its_gold(rules: Rules) -> None:
    others = (player("King", gold=5), player("Bishop"))
    g = resume(rules, "Thief", others=others)
    assert set(texts(g, "name")) == {f"name {role}" for role in ("Magician", "King", "Bishop", "Merchant", "Architect", "Warlord")}
    play(g, "name King", "end turn")
    assert g.turn_role == "King"
    assert g.gold == (7, 2, 0, 0)


@pytest.mark.rule("R46", "R-QUEEN-3")
@every_edition
@pytest.mark.parametrize(("king", "queen", "bonus"), [(1, 3, 3), (4, 2, 3), (2, 3, 0), (3, 4, 0)])
def test_the_bewitched_queens_3_gold_depend_on_where_the_witch_sits(rules: Rules, king: int, queen: int, bonus: int) -> None:
    rules = with_roles(rules, "Witch", "Queen", players=5)
    roles = {0: "Witch", king: "King", queen: "Queen"}
    rest = iter(("Thief", "Bishop"))
    g = at(rules, crown=0, players=[player(roles.get(seat) or next(rest)) for seat in range(5)])
    play(g, "take gold", "name Queen")
    finish(g, lambda g: g.actor == queen and g.question == "ACTION")
    g.play("take gold")
    finish(g)
    assert g.gold[0] == 2 + bonus
    assert g.gold[queen] == 2


@pytest.mark.rule("R47", "R-WITCH-4")
@every_edition
def test_the_witchs_turn_does_not_resume_if_nobody_holds_the_named_role(rules: Rules) -> None:
    players = [player("Witch", gold=5, hand=("Temple",)), player("King"), player("Bishop"), player("Warlord")]
    g = at(with_roles(rules, "Witch"), crown=1, players=players)
    play(g, "take gold", "name Merchant")
    assert 0 not in askers(g)
    assert g.question == "DRAFT"
    assert g.gold[0] == 7
    assert g.hand(0) == ["Temple"]
    assert g.city(0) == []


# --- districts in the cut turns -------------------------------------------------------------

GADGETS = ("Laboratory", "Smithy", "Powder Tower", "Museum")


@pytest.mark.rule("R48", "X-15")
@every_edition
def test_no_district_with_an_ability_works_in_the_witchs_first_half(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", add_districts=("Powder Tower", "Museum"))
    players = [
        player("Witch", gold=9, hand=("Temple",), city=GADGETS),
        player("King", city=("Tavern",)),
        player("Bishop"),
        player("Warlord"),
    ]
    g = at(rules, players=players)
    assert set(g.legal()) == {"take gold", "draw cards"}
    g.play("take gold")
    assert set(g.legal()) == {f"name {role}" for role in BASE[1:]}


@pytest.mark.rule("R48", "X-15")
@every_edition
def test_no_district_with_an_ability_works_in_the_bewitched_turn(rules: Rules) -> None:
    options = {"add_districts": ("Powder Tower", "Museum")}
    g = bewitch(rules, "King", victim={"gold": 9, "hand": ("Temple",), "city": GADGETS}, options=options)
    assert set(g.legal()) == {"take gold", "draw cards"}
    g.play("take gold")
    assert g.actor == 0


@pytest.mark.rule("R48", "X-15")
@every_edition
def test_observatory_and_library_work_in_the_witchs_first_half(rules: Rules) -> None:
    deck = ["Temple", "Manor", "Docks"]
    others = [player("King"), player("Bishop"), player("Warlord")]
    g = at(with_roles(rules, "Witch"), deck_top=deck, players=[player("Witch", city=("Observatory",)), *others])
    g.play("draw cards")
    assert set(g.legal()) == {"keep Temple", "keep Manor", "keep Docks"}
    g.play("keep Docks")
    assert (g.question, g.hand(0)) == ("NAME", ["Docks"])

    g = at(with_roles(rules, "Witch"), deck_top=deck, players=[player("Witch", city=("Library",)), *others])
    g.play("draw cards")
    assert (g.question, sorted(g.hand(0))) == ("NAME", ["Manor", "Temple"])


@pytest.mark.rule("R48", "X-15")
@every_edition
def test_observatory_and_library_work_in_the_bewitched_turn(rules: Rules) -> None:
    g = bewitch(rules, "King", victim={"city": ("Observatory", "Library")}, deck_top=["Temple", "Manor", "Docks"])
    g.play("draw cards")
    assert set(g.legal()) == {"keep Temple", "keep Manor", "keep Docks"}
    play(g, "keep Docks", "keep Manor")
    assert sorted(g.hand(1)) == ["Docks", "Manor"]
    assert g.actor == 0


@pytest.mark.rule("R49")
@every_edition
def test_the_witch_does_not_use_the_purple_districts_of_the_bewitched_player(rules: Rules) -> None:
    victim = {"city": ("Laboratory", "Smithy", "School of Magic", "Factory")}
    options = {"add_districts": ("Factory",)}
    g = resume(rules, "King", witch={"gold": 3, "hand": ("Library", "Temple")}, victim=victim, options=options)
    assert g.gold[0] == 5
    assert set(g.legal()) == {"build Temple", "end turn"}


@pytest.mark.rule("R49")
@every_edition
def test_the_witch_uses_her_own_purple_districts_in_her_second_half(rules: Rules) -> None:
    witch = {"gold": 3, "hand": ("Temple", "Manor"), "city": ("Laboratory", "Smithy", "School of Magic")}
    g = resume(rules, "King", witch=witch)
    expected = {"income", "laboratory Temple", "laboratory Manor", "smithy", "build Temple", "build Manor", "end turn"}
    assert set(g.legal()) == expected


ALMS: dict[str, Any] = {"add_districts": ("Poor House", "Park")}


@pytest.mark.rule("R50", "X-15", "I22", "O-cut_turn_end_effects")
@every_edition
def test_park_and_poor_house_of_a_witch_who_never_resumes_do_nothing(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", **ALMS)
    others = [player("King"), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, players=[player("Witch", city=("Poor House",)), *others])
    draw(g)
    g.play("name Merchant")
    assert 0 not in askers(g)
    assert g.gold[0] == 0

    g = at(rules, crown=1, players=[player("Witch", city=("Park",)), *others])
    play(g, "take gold", "name Merchant")
    assert 0 not in askers(g)
    assert g.hand(0) == []


@pytest.mark.rule("R50", "X-15", "I21", "O-cut_turn_end_effects")
@every_edition
def test_park_and_poor_house_of_the_bewitched_player_do_nothing(rules: Rules) -> None:
    g = bewitch(rules, "King", victim={"city": ("Poor House",)}, options=ALMS)
    draw(g)
    assert g.actor == 0
    assert g.gold[1] == 0
    assert 1 not in askers(g)
    assert g.gold[1] == 0

    g = bewitch(rules, "King", victim={"city": ("Park",)}, options=ALMS)
    g.play("take gold")
    assert (g.question, g.actor) == ("PLAY", 0)
    assert g.hand(1) == []


@pytest.mark.rule("X-15", "R50", "I22")
@every_edition
def test_park_and_poor_house_of_the_witch_work_at_the_end_of_her_second_half(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", **ALMS)
    witch = player("Witch", city=("Park", "Poor House"), hand=("Market",))
    g = at(rules, crown=1, players=[witch, player("King"), player("Bishop"), player("Warlord")])
    play(g, "take gold", "name King", "take gold", "build Market")
    assert g.gold[0] == 0
    g.play("end turn")
    assert g.gold[0] == 1
    assert (g.question, g.actor) == ("PARK", 0)
    g.play("yes")
    assert len(g.hand(0)) == 2


@pytest.mark.rule("X-15", "O-cut_turn_end_effects")
@every_edition
def test_park_and_poor_house_work_after_cut_turns_if_the_option_says_so(rules: Rules) -> None:
    options = {**ALMS, "cut_turn_end_effects": True}
    rules = with_roles(rules, "Witch", **options)
    others = [player("King"), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, players=[player("Witch", city=("Poor House",)), *others])
    draw(g)
    g.play("name Merchant")
    assert g.gold[0] == 1

    g = at(rules, crown=1, players=[player("Witch", city=("Park",)), *others])
    play(g, "take gold", "name Merchant")
    assert (g.question, g.actor) == ("PARK", 0)
    g.play("yes")
    assert len(g.hand(0)) == 2
    assert g.actor == 1

    victim = [player("Witch"), player("King", city=("Poor House",)), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, players=victim)
    play(g, "take gold", "name King")
    draw(g)
    assert g.gold[1] == 1
    assert (g.question, g.actor) == ("PLAY", 0)

    victim = [player("Witch"), player("King", city=("Park",)), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, players=victim)
    play(g, "take gold", "name King", "take gold")
    assert (g.question, g.actor) == ("PARK", 1)
    g.play("no")
    assert g.hand(1) == []
    assert (g.question, g.actor) == ("PLAY", 0)
