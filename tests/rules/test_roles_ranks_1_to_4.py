"""The roles of ranks 1 to 4: Assassin and Witch, Thief and Tax Collector, Magician and Wizard, King and Emperor."""

from typing import Any

import pytest

from citadels_env import FRENCH, GERMAN, Game, Rules
from role_helpers import BASE, askers, draw, editions, every_edition, player, with_roles
from rules_helpers import at, finish, play, reach, texts

# --- the elder relatives (R-GEN) ------------------------------------------------------------


def exchanges(rules: Rules, gold: int, *city: str, **options: Any) -> list[str]:
    """What a Diplomat with `gold`, his action taken, may get of player 1's `city` for his Tavern."""
    rules = with_roles(rules, "Diplomat", **options)
    others = [player("Assassin", city=("Temple",)), player("Thief", city=("Watchtower",))]
    g = at(rules, called=7, players=[player("Diplomat", gold=gold, city=("Tavern",)), player("King", city=city), *others])
    draw(g).play("offer Tavern")
    return [text for text in texts(g, "exchange for") if text.endswith("of player 1")]


@pytest.mark.rule("R-GEN", "R89")
@every_edition
@pytest.mark.parametrize("district", ["University", "Dragon Gate"])
def test_the_diplomat_reckons_university_and_dragon_gate_at_6_like_the_warlord(rules: Rules, district: str) -> None:
    assert exchanges(rules, 4, district) == []
    assert exchanges(rules, 5, district) == [f"exchange for {district} of player 1"]


@pytest.mark.rule("R-GEN", "D-WALL", "X-20")
@every_edition
def test_the_great_wall_works_against_the_diplomat_like_against_the_warlord(rules: Rules) -> None:
    options = {} if rules.base_deck == "american" else {"add_districts": ("Great Wall",)}
    assert exchanges(rules, 2, "Manor", "Great Wall", **options) == []
    assert exchanges(rules, 3, "Manor", "Great Wall", **options) == ["exchange for Manor of player 1"]


# --- Assassin -------------------------------------------------------------------------------


@pytest.mark.rule("R-ASSASSIN", "I1", "I2", "P-3")
@every_edition
def test_the_assassin_names_any_role_but_his_own_also_one_that_lies_face_up(rules: Rules) -> None:
    players = [player("Assassin"), player("King"), player("Bishop"), player("Warlord")]
    g = at(rules, face_up=["Thief", "Merchant"], players=players)
    assert set(texts(g, "name")) == {f"name {role}" for role in BASE[1:]}
    with pytest.raises(ValueError, match="Assassin"):
        g.play("name Assassin")


@pytest.mark.rule("R-ASSASSIN")
@every_edition
def test_the_assassin_names_once_before_or_after_his_action(rules: Rules) -> None:
    players = [player("Assassin"), player("King"), player("Bishop"), player("Warlord")]
    g = at(rules, crown=0, players=players)
    g.play("name King")
    assert texts(g, "name") == []
    play(g, "take gold", "end turn")
    assert g.actor == 2

    g = at(rules, crown=0, players=players)
    play(g, "take gold", "name King")
    assert g.legal() == ["end turn"]
    g.play("end turn")
    assert g.actor == 2


@pytest.mark.rule("R-ASSASSIN")
@every_edition
def test_the_murdered_role_stays_silent_and_loses_its_turn(rules: Rules) -> None:
    players = [player("Assassin"), player("King"), player("Merchant", gold=3, hand=("Temple",), city=("Tavern",)), player("Warlord")]
    g = at(rules, crown=0, players=players)
    play(g, "name Merchant", "take gold", "end turn")
    reach(g, "Warlord")
    assert g.revealed(2) == []
    assert g.revealed(1) == ["King"]
    assert g.gold[2] == 3
    assert 2 not in askers(g)
    assert g.gold[2] == 3
    assert g.hand(2) == ["Temple"]


def next_king(g: Game) -> Game | None:
    """Play to the King's turn of the next round; None if the King lies face down in it."""
    finish(g)
    while g.question == "DRAFT":
        g.play("draft King" if "draft King" in g.legal() else g.legal()[-1])
    holder = next((seat for seat in range(4) if "King" in g.roles(seat)), None)
    if holder is None:
        return None
    return finish(g, lambda g: g.turn_role == "King" or g.question == "DRAFT")


@pytest.mark.rule("R-ASSASSIN", "R-THIEF", "R-WITCH-1")
@every_edition
@pytest.mark.parametrize(("rank_1", "named"), [("Assassin", "murdered"), ("Assassin", "robbed"), ("Witch", "bewitched")])
def test_what_was_named_is_over_with_the_round(rules: Rules, rank_1: str, named: str) -> None:
    rules = with_roles(rules, rank_1)
    players = [player(rank_1), player("Thief"), player("King", gold=5), player("Warlord")]
    seen = 0
    for seed in range(8):
        g = next_king(at(rules, crown=0, called=3, players=players, seed=seed, **{named: "King"}))
        if g is not None:
            seen += 1
            assert (g.turn_role, g.question) == ("King", "PLAY")
            assert g.gold[g.actor] > 0
    assert seen > 0


@pytest.mark.rule("R-ASSASSIN", "I37")
def test_with_two_players_the_assassin_may_murder_his_own_other_role() -> None:
    rules = GERMAN.with_(players=2)
    g = at(rules, crown=0, players=[player("Assassin", "King"), player("Bishop", "Warlord")])
    play(g, "name King", "take gold", "end turn")
    assert g.turn_role == "Bishop"
    reach(g, "Warlord")
    assert g.gold == (2, 2)
    assert set(askers(g)) == {1}


@pytest.mark.rule("R-WITCH-8", "X-5", "O-assassin_must_name")
@every_edition
def test_the_assassin_who_must_name_cannot_end_his_turn_before_he_did(rules: Rules) -> None:
    assert not rules.assassin_must_name
    players = [player("Assassin"), player("King"), player("Bishop"), player("Warlord")]
    g = at(rules.with_(assassin_must_name=True), players=players)
    g.play("take gold")
    assert set(g.legal()) == {f"name {role}" for role in BASE[1:]}
    g.play("name King")
    assert g.legal() == ["end turn"]


@pytest.mark.rule("R-WITCH-8", "X-5", "O-thief_must_name")
@every_edition
def test_the_thief_who_must_name_cannot_end_his_turn_before_he_did(rules: Rules) -> None:
    assert not rules.thief_must_name
    players = [player("Thief"), player("King"), player("Bishop"), player("Warlord")]
    g = at(rules.with_(thief_must_name=True), called=1, players=players)
    g.play("take gold")
    assert set(g.legal()) == {f"name {role}" for role in BASE[2:]}
    g.play("name King")
    assert g.legal() == ["end turn"]


# --- Witch (the rulings R31-R50 hold the rest) ----------------------------------------------


@pytest.mark.rule("R-WITCH-6", "R10")
@every_edition
def test_the_thief_called_after_the_witch_may_rob_neither_her_nor_the_bewitched_role(rules: Rules) -> None:
    rules = with_roles(rules, "Witch")
    g = at(rules, players=[player("Witch"), player("Thief"), player("Warlord", gold=5), player("Bishop")])
    play(g, "take gold", "name Warlord")
    assert g.turn_role == "Thief"
    assert set(texts(g, "name")) == {f"name {role}" for role in ("Magician", "King", "Bishop", "Merchant", "Architect")}


@pytest.mark.rule("R-WITCH-1", "R-WITCH-2", "R-WITCH-3")
@every_edition
def test_the_witch_acts_twice_in_a_round_and_the_bewitched_role_once_in_between(rules: Rules) -> None:
    rules = with_roles(rules, "Witch")
    g = at(rules, crown=0, players=[player("Witch"), player("Bishop"), player("King"), player("Warlord")])
    play(g, "take gold", "name Bishop")
    seats = askers(g)
    assert seats.index(1) > seats.index(2)
    assert seats[-3:] == [0, 3, 3]
    assert seats.count(1) == 1
    assert seats.count(0) == 1


@pytest.mark.rule("R-WITCH-4")
@every_edition
def test_the_witch_may_name_a_role_that_lies_face_up_and_does_not_play_on(rules: Rules) -> None:
    rules = with_roles(rules, "Witch")
    players = [player("Witch"), player("King"), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, face_up=["Thief", "Merchant"], players=players)
    play(g, "take gold", "name Thief")
    assert g.turn_role == "King"
    assert 0 not in askers(g)


@pytest.mark.rule("R-WITCH-4", "R-WITCH-7")
@every_edition
def test_a_bishop_whom_nobody_holds_does_not_guard_the_witch_who_named_him(rules: Rules) -> None:
    players = [player("Witch", city=("Tavern",)), player("King"), player("Merchant"), player("Warlord")]
    g = at(with_roles(rules, "Witch"), crown=1, players=players)
    play(g, "take gold", "name Bishop")
    reach(g, "Warlord")
    g.play("take gold")
    assert texts(g, "destroy") == ["destroy Tavern of player 0"]


@pytest.mark.rule("R-WITCH-4", "R-WITCH-7")
@every_edition
def test_a_tax_collector_whom_nobody_holds_brings_the_witch_no_taxes(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", "Tax Collector")
    players = [player("Witch"), player("King", hand=("Temple",)), player("Merchant"), player("Warlord")]
    g = at(rules, crown=1, players=players)
    play(g, "take gold", "name Tax Collector", "take gold", "build Temple", "end turn")
    assert g.gold[:2] == (2, 1)


@pytest.mark.rule("R-WITCH-2", "R-WITCH-3", "B-TWO-ROLES")
@every_edition
def test_with_three_players_the_witch_may_bewitch_her_own_other_role(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", players=3)
    players = [
        player("Witch", "King", hand=("Temple", "Tavern"), city=("Manor",)),
        player("Bishop", "Thief"),
        player("Warlord", "Magician"),
    ]
    g = at(rules, crown=1, players=players)
    play(g, "take gold", "name King")
    finish(g, lambda g: g.turn_role == "King")
    assert (g.question, g.actor) == ("ACTION", 0)
    g.play("take gold")
    assert (g.question, g.actor) == ("PLAY", 0)
    assert set(g.legal()) == {"income", "build Temple", "build Tavern", "end turn"}
    assert g.gold[0] == 4
    play(g, "build Temple", "end turn")
    assert g.actor != 0


@pytest.mark.rule("R-WITCH-5")
@every_edition
def test_the_bewitched_king_has_the_crown_before_his_action(rules: Rules) -> None:
    g = at(with_roles(rules, "Witch"), crown=3, players=[player("Witch"), player("King"), player("Bishop"), player("Warlord")])
    play(g, "take gold", "name King")
    assert (g.question, g.actor, g.crown) == ("ACTION", 1, 1)


@pytest.mark.rule("R-WITCH-7")
@every_edition
def test_the_bewitched_tax_collectors_retroactive_and_later_taxes_are_the_witchs(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", "Tax Collector")
    players = [
        player("Witch"),
        player("Tax Collector"),
        player("King", gold=3, hand=("Temple",)),
        player("Bishop", gold=3, hand=("Tavern",)),
    ]
    g = at(rules, crown=0, players=players)
    play(g, "take gold", "name Tax Collector", "take gold", "end turn")
    assert g.gold == (2, 2, 3, 3)
    play(g, "take gold", "build Temple", "end turn")
    assert g.gold == (3, 2, 3, 3)
    play(g, "take gold", "build Tavern", "end turn")
    assert g.gold[0] == 4
    assert g.gold[1] == 2


# --- Thief ----------------------------------------------------------------------------------


@pytest.mark.rule("R-THIEF", "I2", "P-3")
@every_edition
def test_the_thief_names_once_any_role_but_his_own_and_the_assassin(rules: Rules) -> None:
    g = at(rules, called=1, players=[player("Thief"), player("King"), player("Bishop"), player("Warlord")])
    assert set(texts(g, "name")) == {f"name {role}" for role in BASE[2:]}
    g.play("name King")
    assert texts(g, "name") == []


@pytest.mark.rule("R-THIEF", "X-12")
@every_edition
def test_the_thief_takes_all_gold_at_the_moment_the_role_is_called(rules: Rules) -> None:
    players = [player("Thief", gold=1), player("Bishop", gold=2), player("Merchant", gold=7), player("Warlord", gold=4)]
    g = at(rules, crown=0, called=1, players=players)
    play(g, "name Merchant", "take gold", "end turn")
    assert (g.turn_role, g.gold[:3]) == ("Bishop", (3, 2, 7))
    play(g, "take gold", "end turn")
    assert g.turn_role == "Merchant"
    start = 1 if rules.merchant_bonus_timing == "start" else 0
    assert g.gold == (10, 4, start, 4)


@pytest.mark.rule("R-THIEF")
@every_edition
def test_the_thief_of_a_role_that_nobody_holds_gets_nothing(rules: Rules) -> None:
    players = [player("Thief"), player("King", gold=5), player("Bishop", gold=5), player("Warlord", gold=5)]
    g = at(rules, crown=0, called=1, players=players)
    play(g, "name Merchant", "take gold", "end turn")
    reach(g, "Warlord")
    assert g.gold == (2, 7, 7, 5)


@pytest.mark.rule("R-THIEF")
@every_edition
def test_with_three_players_the_thief_takes_the_shared_gold_once_when_the_named_role_is_called(rules: Rules) -> None:
    players = [player("Thief", "Magician"), player("King", "Warlord", gold=5), player("Bishop", "Merchant")]
    g = at(rules, crown=0, called=1, players=players)
    play(g, "name Warlord", "take gold", "end turn")
    reach(g, "King")
    assert g.gold[:2] == (4, 5)
    play(g, "take gold", "end turn")
    reach(g, "Warlord")
    assert g.gold[:2] == (11, 0)

    g = at(rules, crown=0, called=1, players=players)
    play(g, "name King", "take gold", "end turn")
    reach(g, "King")
    assert g.gold[:2] == (9, 0)
    play(g, "take gold", "end turn")
    reach(g, "Warlord")
    assert g.gold[:2] == (9, 2)


# --- Tax Collector (the rulings R52-R61 hold the rest) --------------------------------------


@pytest.mark.rule("R-TAX-1")
@every_edition
def test_each_builder_gives_the_tax_collector_1_gold_at_the_end_of_the_turn(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector")
    players = [
        player("Tax Collector"),
        player("King", gold=4, hand=("Manor",)),
        player("Bishop", gold=4, hand=("Temple",)),
        player("Warlord", gold=4, hand=("Castle",)),
    ]
    g = at(rules, crown=0, called=1, players=players)
    play(g, "take gold", "end turn")
    for seat, district, left in ((1, "Manor", 3), (2, "Temple", 5), (3, "Castle", 2)):
        play(g, "take gold", f"build {district}")
        assert g.gold[seat] == left
        assert g.gold[0] == 1 + seat
        g.play("end turn")
        assert g.gold[0] == 2 + seat
    assert g.gold == (5, 2, 4, 1)


@pytest.mark.rule("R-TAX-2", "O-retro_tax_roles")
def test_a_role_outside_the_retroactive_ones_does_not_pay_at_the_reveal() -> None:
    rules = with_roles(GERMAN, "Tax Collector", retro_tax_roles=())
    g = at(rules, players=[player("Assassin", gold=2, hand=("Temple",)), player("Tax Collector"), player("King"), player("Bishop")])
    play(g, "take gold", "build Temple", "end turn")
    assert g.turn_role == "Tax Collector"
    assert g.gold[:2] == (3, 0)


@pytest.mark.rule("R-TAX-3")
def test_alms_are_paid_after_the_tax_and_before_the_refund() -> None:
    rules = with_roles(GERMAN, "Tax Collector", "Alchemist", add_districts=("Poor House",))
    players = [
        player("Tax Collector"),
        player("Alchemist", gold=4, hand=("Palace",), city=("Poor House",)),
        player("King"),
        player("Bishop"),
    ]
    g = at(rules, called=5, players=players)
    play(g, "take gold", "build Palace", "end turn")
    assert g.gold[:2] == (1, 6)


# --- Magician -------------------------------------------------------------------------------


def magician(rules: Rules, *hand: str, **position: Any) -> Game:
    """The Magician (seat 0) begins his turn; seat 1 holds two cards."""
    players = [player("Magician", hand=hand), player("King", hand=("Castle", "Palace")), player("Bishop"), player("Warlord")]
    return at(rules, crown=1, called=2, players=players, **position)


@pytest.mark.rule("R-MAGICIAN", "P-4")
@every_edition
def test_the_magician_swaps_his_whole_hand_once_and_then_exchanges_nothing(rules: Rules) -> None:
    g = magician(rules, "Temple", "Tavern", "Docks")
    g.play("swap hands with player 1")
    assert sorted(g.hand(0)) == ["Castle", "Palace"]
    assert sorted(g.hand(1)) == ["Docks", "Tavern", "Temple"]
    assert texts(g, "swap") == []
    assert texts(g, "discard") == []


@pytest.mark.rule("R-MAGICIAN", "P-4", "O-discard_to")
@every_edition
def test_the_magician_throws_cards_away_one_by_one_and_then_draws_as_many(rules: Rules) -> None:
    g = magician(rules, "Temple", "Tavern", "Docks", deck_top=["Manor", "Fortress", "Harbor"])
    deck, discard = g.deck_size, g.discard_size
    assert set(texts(g, "discard")) == {"discard Temple", "discard Tavern", "discard Docks"}
    g.play("discard Temple")
    assert g.question == "DISCARD"
    assert set(g.legal()) == {"discard Tavern", "discard Docks", "done"}
    assert sorted(g.hand(0)) == ["Docks", "Tavern"]
    play(g, "discard Docks", "done")
    assert g.question == "PLAY"
    assert sorted(g.hand(0)) == ["Fortress", "Manor", "Tavern"]
    assert texts(g, "swap") == []
    assert texts(g, "discard") == []
    if rules.discard_to == "discard_pile":
        assert (g.deck_size, g.discard_size) == (deck - 2, discard + 2)
    else:
        assert (g.deck_size, g.discard_size) == (deck, discard)
    assert "take gold" in g.legal()


@pytest.mark.rule("R-MAGICIAN", "P-9")
@every_edition
def test_the_magician_who_threw_away_his_last_card_draws_without_being_asked(rules: Rules) -> None:
    g = magician(rules, "Temple", "Temple", deck_top=["Manor", "Fortress", "Harbor"])
    play(g, "discard Temple", "discard Temple")
    assert g.question == "PLAY"
    assert sorted(g.hand(0)) == ["Fortress", "Manor"]


@pytest.mark.rule("R-MAGICIAN")
@every_edition
def test_the_magician_swaps_neither_districts_nor_gold(rules: Rules) -> None:
    players = [
        player("Magician", gold=1, city=("Temple",)),
        player("King", gold=6, city=("Manor",), hand=("Docks",)),
        player("Bishop"),
        player("Warlord"),
    ]
    g = at(rules, crown=1, called=2, players=players)
    g.play("swap hands with player 1")
    assert g.gold[:2] == (1, 6)
    assert (g.city(0), g.city(1)) == (["Temple"], ["Manor"])
    assert (g.hand(0), g.hand(1)) == (["Docks"], [])


# --- Wizard (the rulings R63-R65 hold the rest) ---------------------------------------------


def wizard(rules: Rules, gold: int = 0, hand: tuple[str, ...] = ()) -> Game:
    """The Wizard (seat 0) begins his turn; seats 1 and 3 hold cards."""
    players = [
        player("Wizard", gold=gold, hand=hand),
        player("King", hand=("Manor", "Temple", "Temple")),
        player("Bishop"),
        player("Warlord", hand=("Docks",)),
    ]
    return at(with_roles(rules, "Wizard"), crown=1, called=2, players=players)


@pytest.mark.rule("R-WIZ-1", "X-8", "P-5")
@every_edition
def test_the_wizard_looks_at_a_hand_and_takes_one_card_into_his_own(rules: Rules) -> None:
    g = wizard(rules)
    assert set(texts(g, "look at")) == {"look at player 1", "look at player 3"}
    g.play("look at player 1")
    assert (g.question, g.actor) == ("WIZARD_TAKE", 0)
    assert set(g.legal()) == {"take Manor", "take Temple", "done"}
    g.play("take Temple")
    assert g.question == "PLAY"
    assert g.hand(0) == ["Temple"]
    assert sorted(g.hand(1)) == ["Manor", "Temple"]
    assert texts(g, "look at") == []


@pytest.mark.rule("R-WIZ-1", "X-8")
@every_edition
def test_the_wizard_may_take_no_card(rules: Rules) -> None:
    g = wizard(rules)
    play(g, "look at player 1", "done")
    assert g.question == "PLAY"
    assert g.hand(0) == []
    assert sorted(g.hand(1)) == ["Manor", "Temple", "Temple"]
    assert texts(g, "look at") == []


@pytest.mark.rule("R-WIZ-1", "R-WIZ-2", "X-29")
@every_edition
def test_the_wizard_builds_the_card_at_once_or_keeps_it_for_his_normal_build(rules: Rules) -> None:
    g = wizard(rules, gold=5, hand=("Tavern",))
    play(g, "look at player 1", "take Manor")
    assert g.question == "WIZARD_BUILD"
    assert set(g.legal()) == {"build Manor", "done"}

    kept = g.clone()
    kept.play("done")
    assert sorted(kept.hand(0)) == ["Manor", "Tavern"]
    assert kept.gold[0] == 5
    assert texts(kept, "build") == []
    play(kept, "take gold", "build Manor")
    assert texts(kept, "build") == []
    assert kept.city(0) == ["Manor"]

    g.play("build Manor")
    assert g.gold[0] == 2
    play(g, "take gold", "build Tavern")
    assert g.city(0) == ["Manor", "Tavern"]
    assert g.gold[0] == 3


@pytest.mark.rule("R-WIZ-3", "O-wizard_may_duplicate")
@every_edition
@pytest.mark.parametrize("allowed", [True, False])
def test_where_duplicates_are_banned_only_the_option_lets_the_wizard_build_a_second_copy(rules: Rules, allowed: bool) -> None:
    rules = with_roles(rules, "Wizard", duplicates_allowed=False, wizard_may_duplicate=allowed)
    players = [player("Wizard", gold=5, city=("Manor",)), player("King", hand=("Manor", "Temple")), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, called=2, players=players)
    play(g, "look at player 1", "take Manor")
    if allowed:
        assert set(g.legal()) == {"build Manor", "done"}
        g.play("build Manor")
        assert g.city(0) == ["Manor", "Manor"]
    else:
        assert g.question == "PLAY"
        g.play("take gold")
        assert texts(g, "build") == []


# --- King and Emperor (the rulings R66-R76 hold the rest) -----------------------------------


@pytest.mark.rule("R-KING", "S-8", "X-12")
@every_edition
def test_the_king_takes_the_crown_when_he_is_called_and_drafts_first_next_round(rules: Rules) -> None:
    players = [player("Assassin"), player("Thief"), player("King"), player("Warlord")]
    g = at(rules, crown=0, called=1, players=players)
    assert (g.turn_role, g.crown) == ("Thief", 0)
    play(g, "take gold", "end turn")
    assert (g.question, g.actor, g.crown) == ("PLAY", 2, 2)
    assert "take gold" in g.legal()
    finish(g)
    assert (g.question, g.actor, g.crown) == ("DRAFT", 2, 2)


@pytest.mark.rule("R-KING", "R-EMP-1")
@every_edition
@pytest.mark.parametrize("role", ["King", "Emperor"])
def test_king_and_emperor_have_1_gold_for_each_noble_district(rules: Rules, role: str) -> None:
    city = ("Manor", "Castle", "Palace", "Temple", "Tavern", "Watchtower", "Keep")
    players = [player(role, city=city), player("Thief", city=("Manor",)), player("Bishop"), player("Warlord")]
    g = at(with_roles(rules, role), crown=1, called=3, players=players)
    finish(g, lambda g: g.question == "PLAY")
    before = g.gold[0]
    g.play("income")
    assert g.gold[0] == before + 3
    assert "income" not in g.legal()


@pytest.mark.rule("R-KING", "R-EMP-1", "P-1")
@every_edition
@pytest.mark.parametrize("role", ["King", "Emperor"])
def test_income_is_not_offered_without_a_noble_district(rules: Rules, role: str) -> None:
    players = [player(role, city=("Temple",)), player("Thief"), player("Bishop"), player("Warlord")]
    g = at(with_roles(rules, role), crown=1, called=3, players=players)
    finish(g, lambda g: g.question == "PLAY")
    assert g.actor == 0
    assert "income" not in g.legal()


@pytest.mark.rule("R-EMP-2", "P-8")
@every_edition
def test_the_crown_the_emperor_hands_on_opens_the_next_draft(rules: Rules) -> None:
    players = [player("Emperor"), player("Thief"), player("Bishop"), player("Warlord")]
    g = at(with_roles(rules, "Emperor"), crown=1, called=3, players=players)
    g.play("crown player 2")
    assert g.crown == 2
    finish(g)
    assert (g.question, g.actor, g.crown) == ("DRAFT", 2, 2)


@pytest.mark.rule("R-EMP-3")
@every_edition
def test_a_murdered_emperors_player_does_not_inherit_the_crown(rules: Rules) -> None:
    players = [player("Emperor"), player("Assassin"), player("Bishop"), player("Warlord")]
    g = at(with_roles(rules, "Emperor"), crown=3, players=players)
    play(g, "name Emperor", "take gold", "end turn")
    assert g.turn_role == "Bishop"
    finish(g)
    assert (g.question, g.actor, g.crown) == ("DRAFT", 3, 3)


@pytest.mark.rule("R-EMP-4")
@editions("french", "american")
def test_the_tribute_is_paid_before_the_emperor_plays_on(rules: Rules) -> None:
    players = [player("Emperor", hand=("Temple",)), player("Thief"), player("Bishop", gold=1, hand=("Manor", "Manor")), player("Warlord")]
    g = at(with_roles(rules, "Emperor"), crown=1, called=3, players=players)
    g.play("crown player 2")
    assert (g.question, g.actor) == ("TRIBUTE", 2)
    assert set(g.legal()) == {"give gold", "give Manor"}
    g.play("give gold")
    assert (g.question, g.actor) == ("PLAY", 0)
    assert g.gold[0] == 1
    assert g.gold[2] == 0


@pytest.mark.rule("R-EMP-4", "R68")
def test_the_returned_crown_costs_a_tribute_where_both_are_in_the_rules() -> None:
    rules = with_roles(FRENCH, "Emperor", emperor_may_return_crown=True)
    players = [player("Emperor"), player("Thief", gold=2), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, called=3, players=players)
    g.play("crown player 1")
    assert g.gold[:2] == (1, 1)
    assert g.crown == 1


@pytest.mark.rule("R-EMP-4", "X-12")
@editions("french", "american")
def test_a_robbed_emperor_keeps_the_tribute_that_comes_after_the_robbery(rules: Rules) -> None:
    players = [player("Emperor", gold=3), player("Thief"), player("Bishop", gold=2), player("Warlord")]
    g = at(with_roles(rules, "Emperor"), crown=1, called=3, robbed="Emperor", players=players)
    assert g.gold == (0, 3, 2, 0)
    g.play("crown player 2")
    assert g.gold == (1, 3, 1, 0)


@pytest.mark.rule("B-TWO-ROLES", "R-KING")
@every_edition
def test_with_three_players_income_and_districts_serve_in_both_turns_and_each_power_in_its_own(rules: Rules) -> None:
    city = ("Manor", "Watchtower", "Prison", "Smithy", "Laboratory")
    players = [
        player("King", "Warlord", gold=9, hand=("Temple", "Church"), city=city),
        player("Thief", "Bishop"),
        player("Assassin", "Magician"),
    ]
    g = at(rules, crown=1, called=3, players=players)
    assert texts(g, "destroy") == []
    play(g, "income")
    assert g.gold[0] == 10
    play(g, "smithy", "laboratory Temple", "take gold")
    assert {"smithy", "income"} & set(g.legal()) == set()
    assert texts(g, "laboratory") == []
    g.play("end turn")
    reach(g, "Warlord")
    assert g.actor == 0
    gold = g.gold[0]
    play(g, "income")
    assert g.gold[0] == gold + 2
    assert "smithy" in g.legal()
    assert texts(g, "laboratory")
