"""Rulings R52 to R61: the Tax Collector and the order at the end of a turn."""

from typing import Any

import pytest

from citadels_env import GERMAN, Game, Rules
from role_helpers import draw, editions, every_edition, player, with_roles
from rules_helpers import at, end_turn, finish, play, reach, texts


def builder(rules: Rules, role: str, *, gold: int, hand: tuple[str, ...], city: tuple[str, ...] = (), **options: Any) -> Game:
    """Seat 1 plays `role` after the Tax Collector (seat 0, 2 gold) ended his turn without building."""
    rules = with_roles(rules, "Tax Collector", role, **options)
    players = [player("Tax Collector"), player(role, gold=gold, hand=hand, city=city), player("Assassin"), player("King")]
    g = at(rules, crown=0, called=1, players=players)
    play(g, "take gold", "end turn")
    reach(g, role)
    assert (g.actor, g.gold[0]) == (1, 2)
    return g


# --- how much, and who ----------------------------------------------------------------------


@pytest.mark.rule("R52", "R-TAX-1")
@every_edition
def test_a_builder_of_several_districts_pays_1_gold_in_all_at_the_end_of_the_turn(rules: Rules) -> None:
    g = builder(rules, "Architect", gold=6, hand=("Temple", "Tavern", "Watchtower"))
    play(g, "take gold", "build Temple", "build Tavern", "build Watchtower")
    assert g.gold[:2] == (2, 5)
    g.play("end turn")
    assert g.gold[:2] == (3, 4)


@pytest.mark.rule("R52", "R-TAX-1")
@every_edition
def test_who_builds_nothing_pays_no_tax(rules: Rules) -> None:
    g = builder(rules, "Architect", gold=6, hand=("Temple",))
    play(g, "take gold", "end turn")
    assert g.gold[:2] == (2, 8)


@pytest.mark.rule("R53", "R-TAX-1")
@every_edition
def test_a_builder_without_gold_pays_nothing_and_owes_nothing(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector", players=3)
    players = [player("Tax Collector", "King"), player("Bishop", "Warlord", hand=("Market",)), player("Assassin", "Magician")]
    g = at(rules, crown=0, called=1, players=players)
    play(g, "take gold", "end turn")
    reach(g, "Bishop")
    assert g.gold[:2] == (4, 0)
    play(g, "take gold", "build Market", "end turn")
    assert g.gold[:2] == (4, 0)
    reach(g, "Warlord")
    play(g, "take gold", "end turn")
    assert g.gold[:2] == (4, 2)


@pytest.mark.rule("R54", "R-TAX-2")
@every_edition
def test_the_assassin_who_built_pays_when_the_tax_collector_shows_himself(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector")
    g = at(rules, players=[player("Assassin", gold=2, hand=("Temple",)), player("Tax Collector"), player("King"), player("Bishop")])
    play(g, "take gold", "build Temple")
    assert g.gold[0] == 3
    g.play("end turn")
    assert g.turn_role == "Tax Collector"
    assert g.gold[:2] == (2, 1)
    play(g, "take gold", "end turn")
    assert g.gold[:2] == (2, 3)


@pytest.mark.rule("R54", "R-TAX-2")
@every_edition
def test_the_assassin_without_gold_or_who_did_not_build_pays_nothing_at_the_reveal(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector")
    others = [player("Tax Collector"), player("King"), player("Bishop")]
    g = at(rules, players=[player("Assassin", hand=("Market",)), *others])
    play(g, "take gold", "build Market", "end turn")
    assert g.turn_role == "Tax Collector"
    assert g.gold[:2] == (0, 0)

    g = at(rules, players=[player("Assassin", gold=2, hand=("Market",)), *others])
    play(g, "take gold", "end turn")
    assert g.turn_role == "Tax Collector"
    assert g.gold[:2] == (4, 0)


@pytest.mark.rule("R54", "I3")
@every_edition
def test_a_murdered_tax_collector_collects_nothing(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector")
    players = [
        player("Assassin", gold=2, hand=("Temple",)),
        player("Tax Collector"),
        player("King", gold=2, hand=("Tavern",)),
        player("Bishop"),
    ]
    g = at(rules, players=players)
    play(g, "name Tax Collector", "take gold", "build Temple", "end turn")
    assert g.turn_role == "King"
    play(g, "take gold", "build Tavern", "end turn")
    assert g.gold[:3] == (3, 0, 3)


@pytest.mark.rule("I4")
@every_edition
def test_nobody_pays_tax_if_nobody_is_tax_collector(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector")
    players = [player("Assassin", gold=2, hand=("Temple",)), player("Magician"), player("King", gold=2, hand=("Tavern",)), player("Bishop")]
    g = at(rules, players=players)
    play(g, "take gold", "build Temple", "end turn")
    reach(g, "King")
    play(g, "take gold", "build Tavern", "end turn")
    assert g.gold[:3] == (3, 2, 3)


@pytest.mark.rule("I4", "R-TAX-1")
@every_edition
def test_the_tax_collector_of_the_last_round_is_paid_no_more(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector")
    others = [player("King"), player("Bishop", hand=("Temple",)), player("Warlord")]
    for seed in range(4):
        g = at(rules, crown=0, called=1, players=[player("Tax Collector"), *others], seed=seed)
        finish(g)
        while g.question == "DRAFT":
            g.play(next(text for text in reversed(g.legal()) if text != "draft Tax Collector"))
        finish(g, lambda g: g.actor == 2)
        play(g, "take gold", "build Temple")
        left = g.gold[2]
        assert left > 0
        g.play("end turn")
        assert g.gold[2] == left


@pytest.mark.rule("R-TAX-2")
@every_edition
def test_what_the_assassin_built_in_the_last_round_is_not_taxed_again(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector")
    players = [player("Assassin", gold=9, hand=("Temple",)), player("Tax Collector"), player("King"), player("Bishop")]
    seen = 0
    for seed in range(8):
        g = at(rules, crown=0, players=players, seed=seed)
        play(g, "take gold", "build Temple", "end turn")
        assert (g.turn_role, g.gold[0], g.gold[1]) == ("Tax Collector", 9, 1)
        finish(g)
        while g.question == "DRAFT":
            wanted = {0: "draft Assassin", 1: "draft Tax Collector"}.get(g.actor, "")
            others = [text for text in g.legal() if text not in ("draft Assassin", "draft Tax Collector")]
            g.play(wanted if wanted in g.legal() else (others or g.legal())[-1])
        if (g.roles(0), g.roles(1)) == (["Assassin"], ["Tax Collector"]):
            seen += 1
            play(g, "take gold", "end turn")
            assert (g.turn_role, g.gold[0]) == ("Tax Collector", 11)
    assert seen > 0


@pytest.mark.rule("R-TAX-1", "I5")
@every_edition
def test_the_tax_collector_is_known_when_he_is_paid_and_keeps_his_gold_when_he_builds_himself(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector")
    players = [player("Tax Collector", hand=("Temple",)), player("King", gold=2, hand=("Tavern",)), player("Assassin"), player("Bishop")]
    g = at(rules, called=1, players=players)
    play(g, "take gold", "build Temple", "end turn")
    assert g.gold[0] == 1
    assert g.revealed(0) == ["Tax Collector"]
    play(g, "take gold", "build Tavern", "end turn")
    assert g.gold[:2] == (2, 2)


# --- the order at the end of a turn ---------------------------------------------------------


@pytest.mark.rule("R55", "R-TAX-3", "X-13")
@editions("german", "american")
def test_at_the_end_of_a_turn_comes_the_tax_then_the_poor_house_then_the_alchemists_refund(rules: Rules) -> None:
    g = builder(rules, "Alchemist", gold=2, hand=("Docks",), city=("Poor House",), add_districts=("Poor House",))
    play(g, "take gold", "build Docks")
    assert g.gold[:2] == (2, 1)
    g.play("end turn")
    assert g.gold[:2] == (3, 0 + 1 + 3)


@pytest.mark.rule("R55")
@editions("french")
def test_the_french_alchemist_has_his_gold_back_before_the_tax(rules: Rules) -> None:
    g = builder(rules, "Alchemist", gold=2, hand=("Docks",), city=("Poor House",), add_districts=("Poor House",))
    play(g, "take gold", "build Docks")
    assert g.gold[:2] == (2, 4)
    g.play("end turn")
    assert g.gold[:2] == (3, 3)


@pytest.mark.rule("R55", "X-13")
@every_edition
def test_the_park_is_asked_after_tax_poor_house_and_refund(rules: Rules) -> None:
    new = ("Poor House", "Park")
    g = builder(rules, "Alchemist", gold=2, hand=("Docks",), city=new, add_districts=new)
    play(g, "take gold", "build Docks", "end turn")
    assert (g.question, g.actor) == ("PARK", 1)
    assert g.gold[0] == 3
    assert g.gold[1] == (3 if rules.alchemist_refund == "immediate" else 4)


@pytest.mark.rule("R56", "R-TAX-3")
@every_edition
def test_the_poor_house_pays_when_the_last_gold_went_to_the_tax_collector(rules: Rules) -> None:
    g = builder(rules, "Architect", gold=0, hand=("Temple",), city=("Poor House",), add_districts=("Poor House",))
    play(g, "take gold", "build Temple")
    assert g.gold[:2] == (2, 1)
    g.play("end turn")
    assert g.gold[:2] == (3, 1)


@pytest.mark.rule("R57", "R-TAX-3")
@every_edition
def test_the_gold_of_the_poor_house_is_not_taxed(rules: Rules) -> None:
    g = builder(rules, "Architect", gold=0, hand=("Market",), city=("Poor House",), add_districts=("Poor House",))
    play(g, "take gold", "build Market", "end turn")
    assert g.gold[:2] == (2, 1)


@pytest.mark.rule("R58", "R-TAX-3")
@editions("german", "american")
def test_the_alchemists_refund_is_not_taxed(rules: Rules) -> None:
    g = builder(rules, "Alchemist", gold=1, hand=("Docks",))
    play(g, "take gold", "build Docks", "end turn")
    assert g.gold[:2] == (2, 3)


@pytest.mark.rule("R59", "R-TAX-3")
@editions("german", "american")
def test_the_alchemist_who_spent_all_has_the_alms_first_and_the_refund_after(rules: Rules) -> None:
    g = builder(rules, "Alchemist", gold=1, hand=("Docks",), city=("Poor House",), add_districts=("Poor House",))
    play(g, "take gold", "build Docks", "end turn")
    assert g.gold[:2] == (2, 1 + 3)


# --- Wizard and Hospital --------------------------------------------------------------------


@pytest.mark.rule("R60", "R-WIZ-2")
@every_edition
def test_the_wizard_who_builds_only_the_stolen_card_is_taxed(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector", "Wizard")
    players = [player("Tax Collector"), player("Wizard", gold=3), player("King", hand=("Temple", "Manor")), player("Bishop")]
    g = at(rules, called=1, players=players)
    play(g, "take gold", "end turn", "look at player 2", "take Temple", "build Temple", "take gold")
    assert g.gold[:2] == (2, 4)
    g.play("end turn")
    assert g.gold[:2] == (3, 3)


@pytest.mark.rule("R60")
@every_edition
def test_the_wizard_who_only_takes_the_card_is_not_taxed(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector", "Wizard")
    players = [player("Tax Collector"), player("Wizard", gold=3), player("King", hand=("Temple", "Manor")), player("Bishop")]
    g = at(rules, called=1, players=players)
    play(g, "take gold", "end turn", "look at player 2", "take Temple", "done", "take gold", "end turn")
    assert g.gold[:2] == (2, 5)


@pytest.mark.rule("R61", "D-HOSPITAL")
@every_edition
def test_the_murdered_tax_collector_with_a_hospital_gets_no_tax(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector", add_districts=("Hospital",))
    players = [
        player("Assassin", gold=2, hand=("Temple",)),
        player("Tax Collector", city=("Hospital",)),
        player("King", gold=2, hand=("Tavern",)),
        player("Bishop"),
    ]
    g = at(rules, players=players)
    play(g, "name Tax Collector", "take gold", "build Temple", "end turn")
    assert (g.question, g.actor) == ("ACTION", 1)
    assert g.gold[:2] == (3, 0)
    g.play("take gold")
    assert g.turn_role == "King"
    play(g, "take gold", "build Tavern")
    end_turn(g)
    assert g.gold[:3] == (3, 2, 3)


@pytest.mark.rule("R-TAX-1")
@every_edition
def test_the_retroactive_payer_pays_the_tax_of_one_turn_once(rules: Rules) -> None:
    rules = with_roles(rules, "Tax Collector")
    g = at(rules, players=[player("Assassin", gold=5, hand=("Temple",)), player("Tax Collector"), player("King"), player("Bishop")])
    play(g, "take gold", "build Temple", "end turn")
    assert g.gold[0] == 5
    finish(g)
    assert g.gold[0] == 5
    assert g.gold[1] == 3


@pytest.mark.rule("R-TAX-1")
def test_destroying_or_drawing_is_not_building() -> None:
    g = builder(GERMAN, "Warlord", gold=5, hand=())
    assert texts(g, "build") == []
    draw(g)
    g.play("end turn")
    assert g.gold[:2] == (2, 5)
