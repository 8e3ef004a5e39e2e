"""Rulings R63 to R76: the Wizard and the Emperor."""

from typing import Any

import pytest

from citadels_env import FRENCH, GERMAN, Game, Rules
from role_helpers import editions, every_edition, player, with_roles
from rules_helpers import at, finish, play, reach, texts

# --- Wizard ---------------------------------------------------------------------------------


def wizard(
    rules: Rules, *, gold: int, hand: tuple[str, ...] = (), city: tuple[str, ...] = (), other: tuple[str, ...] = ("Manor", "Temple")
) -> Game:
    """The Wizard (seat 0) begins his turn; seat 1 holds the cards `other`."""
    players = [player("Wizard", gold=gold, hand=hand, city=city), player("King", hand=other), player("Bishop"), player("Warlord")]
    return at(with_roles(rules, "Wizard"), crown=1, called=2, players=players)


@pytest.mark.rule("R63", "R-WIZ-1", "R-WIZ-2", "X-29")
@every_edition
def test_the_stolen_card_is_built_at_its_full_cost_beside_the_normal_build(rules: Rules) -> None:
    g = wizard(rules, gold=4, hand=("Tavern", "Watchtower"))
    play(g, "look at player 1", "take Manor", "build Manor")
    assert g.gold[0] == 1
    assert g.city(0) == ["Manor"]
    assert g.hand(1) == ["Temple"]
    play(g, "take gold", "build Tavern")
    assert g.city(0) == ["Manor", "Tavern"]
    assert g.gold[0] == 2
    assert g.legal() == ["end turn"]


@pytest.mark.rule("R63", "R-WIZ-2")
@every_edition
def test_the_stolen_card_may_be_built_after_the_normal_build(rules: Rules) -> None:
    g = wizard(rules, gold=4, hand=("Tavern", "Watchtower"))
    play(g, "take gold", "build Tavern", "look at player 1", "take Manor", "build Manor")
    assert g.city(0) == ["Manor", "Tavern"]
    assert g.gold[0] == 2
    assert g.legal() == ["end turn"]


@pytest.mark.rule("R63")
@every_edition
def test_the_stolen_card_cannot_be_built_at_once_without_the_gold_for_it(rules: Rules) -> None:
    g = wizard(rules, gold=2)
    play(g, "look at player 1", "take Manor")
    assert g.question == "PLAY"
    assert g.hand(0) == ["Manor"]
    assert g.gold[0] == 2


@pytest.mark.rule("R64", "R-WIZ-3", "O-wizard_may_duplicate")
@every_edition
def test_the_wizard_may_build_a_stolen_card_that_already_stands_in_his_city(rules: Rules) -> None:
    g = wizard(rules, gold=4, city=("Manor",))
    play(g, "look at player 1", "take Manor")
    assert set(g.legal()) == {"build Manor", "done"}
    g.play("build Manor")
    assert g.city(0) == ["Manor", "Manor"]
    assert g.gold[0] == 1


@pytest.mark.rule("R65", "R-WIZ-3", "O-wizard_may_duplicate")
@every_edition
def test_the_wizard_may_build_any_card_of_his_hand_that_already_stands_in_his_city(rules: Rules) -> None:
    g = wizard(rules, gold=4, city=("Tavern",), hand=("Tavern",))
    play(g, "look at player 1", "take Temple", "done", "take gold")
    assert set(texts(g, "build")) == {"build Temple", "build Tavern"}
    g.play("build Tavern")
    assert g.city(0) == ["Tavern", "Tavern"]


@pytest.mark.rule("R64", "R65", "O-wizard_may_duplicate", "O-duplicates_allowed")
@editions("french", "american")
def test_only_the_wizard_may_duplicate_and_only_if_the_option_says_so(rules: Rules) -> None:
    players = [player("Wizard"), player("King", gold=4, city=("Tavern",), hand=("Tavern",)), player("Bishop"), player("Warlord")]
    g = reach(at(with_roles(rules, "Wizard"), crown=1, called=2, players=players), "King")
    g.play("take gold")
    assert texts(g, "build") == []

    g = wizard(rules.with_(wizard_may_duplicate=False), gold=4, city=("Manor", "Tavern"), hand=("Tavern",))
    play(g, "look at player 1", "take Manor")
    assert g.question == "PLAY"
    g.play("take gold")
    assert texts(g, "build") == []


# --- Emperor --------------------------------------------------------------------------------


def emperor(rules: Rules, *, crown: int, receiver: dict[str, Any] | None = None, called: int = 3, **position: Any) -> Game:
    """The Emperor (seat 0) is called; seat 2 is `receiver`."""
    seats = [
        player("Emperor", city=("Manor", "Palace"), gold=1, hand=("Temple",)),
        player("Assassin"),
        player("Bishop", **(receiver or {})),
        player("Warlord"),
    ]
    return at(with_roles(rules, "Emperor"), crown=crown, called=called, players=seats, **position)


@pytest.mark.rule("R66", "R-EMP-2", "X-12")
@every_edition
def test_the_emperor_hands_on_the_crown_right_when_he_is_called(rules: Rules) -> None:
    g = emperor(rules, crown=1)
    assert (g.question, g.actor, g.crown) == ("CROWN", 0, 1)
    assert g.gold[0] == 1
    assert all(text.startswith("crown player ") for text in g.legal())
    g.play("crown player 3")
    assert g.crown == 3
    finish(g, lambda g: g.question == "PLAY")
    assert {"take gold", "draw cards", "income"} <= set(g.legal())
    finish(g)
    assert (g.question, g.actor, g.crown) == ("DRAFT", 3, 3)


@pytest.mark.rule("R67", "R68", "R-EMP-2", "O-emperor_may_return_crown")
@editions("german")
def test_the_emperor_never_crowns_himself_but_may_return_the_crown(rules: Rules) -> None:
    g = emperor(rules, crown=1)
    assert set(g.legal()) == {"crown player 1", "crown player 2", "crown player 3"}
    g.play("crown player 1")
    assert g.crown == 1
    assert (g.question, g.actor) == ("PLAY", 0)


@pytest.mark.rule("R67", "R68", "R-EMP-2", "O-emperor_may_return_crown")
@editions("french", "american")
def test_the_french_and_american_emperor_may_not_return_the_crown(rules: Rules) -> None:
    g = emperor(rules, crown=1)
    assert set(g.legal()) == {"crown player 2", "crown player 3"}
    with pytest.raises(ValueError, match="crown player 1"):
        g.play("crown player 1")
    assert g.crown == 1


@pytest.mark.rule("R69")
@every_edition
def test_an_emperor_who_holds_the_crown_must_give_it_away(rules: Rules) -> None:
    g = emperor(rules, crown=0)
    assert g.question == "CROWN"
    assert set(g.legal()) == {"crown player 1", "crown player 2", "crown player 3"}
    g.play("crown player 2")
    assert g.crown == 2


@pytest.mark.rule("R70", "R-EMP-4", "O-emperor_tribute")
@editions("german")
def test_no_tribute_is_paid_to_the_german_emperor(rules: Rules) -> None:
    g = emperor(rules, crown=1, receiver={"gold": 3, "hand": ("Docks", "Market")})
    g.play("crown player 2")
    assert (g.question, g.actor) == ("PLAY", 0)
    assert g.gold == (1, 0, 3, 0)
    assert g.hand(0) == ["Temple"]


@pytest.mark.rule("R70", "R71", "R-EMP-4", "I17", "O-emperor_tribute")
@editions("french", "american")
def test_the_receiver_of_the_crown_chooses_gold_or_which_card_to_give(rules: Rules) -> None:
    g = emperor(rules, crown=1, receiver={"gold": 3, "hand": ("Docks", "Market")})
    g.play("crown player 2")
    assert (g.question, g.actor) == ("TRIBUTE", 2)
    assert set(g.legal()) == {"give gold", "give Docks", "give Market"}

    gold = g.clone()
    gold.play("give gold")
    assert gold.gold == (2, 0, 2, 0)
    assert sorted(gold.hand(2)) == ["Docks", "Market"]
    assert (gold.question, gold.actor) == ("PLAY", 0)

    g.play("give Market")
    assert g.gold == (1, 0, 3, 0)
    assert g.hand(2) == ["Docks"]
    assert sorted(g.hand(0)) == ["Market", "Temple"]
    assert (g.question, g.actor) == ("PLAY", 0)


@pytest.mark.rule("R71", "P-9")
@editions("french", "american")
@pytest.mark.parametrize(
    ("receiver", "gold", "hand"),
    [({"gold": 2}, (2, 1), ["Temple"]), ({"hand": ("Market",)}, (1, 0), ["Market", "Temple"])],
    ids=["only gold", "only one card"],
)
def test_a_tribute_without_choice_is_paid_without_asking(
    rules: Rules, receiver: dict[str, Any], gold: tuple[int, int], hand: list[str]
) -> None:
    g = emperor(rules, crown=1, receiver=receiver)
    g.play("crown player 2")
    assert (g.question, g.actor) == ("PLAY", 0)
    assert (g.gold[0], g.gold[2]) == gold
    assert sorted(g.hand(0)) == hand
    assert g.hand(2) == []


@pytest.mark.rule("R72", "R-EMP-4")
@editions("french", "american")
def test_a_receiver_with_neither_gold_nor_cards_pays_nothing_for_the_crown(rules: Rules) -> None:
    g = emperor(rules, crown=1)
    g.play("crown player 2")
    assert (g.question, g.actor, g.crown) == ("PLAY", 0, 2)
    assert g.gold == (1, 0, 0, 0)
    assert g.hand(0) == ["Temple"]


@pytest.mark.rule("R73", "R-EMP-3")
@every_edition
def test_the_crown_stays_if_the_emperor_is_murdered(rules: Rules) -> None:
    g = emperor(rules, crown=1, murdered="Emperor", receiver={"gold": 3})
    assert g.turn_role == "Bishop"
    assert g.crown == 1
    finish(g)
    assert (g.question, g.actor, g.crown) == ("DRAFT", 1, 1)
    assert g.gold[0] == 1


@pytest.mark.rule("R74", "R-EMP-3")
@every_edition
def test_the_crown_stays_if_nobody_is_emperor(rules: Rules) -> None:
    players = [player("Magician"), player("Assassin"), player("Bishop"), player("Warlord")]
    g = at(with_roles(rules, "Emperor"), crown=3, called=2, players=players)
    finish(g)
    assert (g.question, g.actor, g.crown) == ("DRAFT", 3, 3)


@pytest.mark.rule("R75", "S-4")
@every_edition
@pytest.mark.parametrize("royal", ["King", "Emperor"])
def test_neither_king_nor_emperor_ever_lies_face_up(rules: Rules, royal: str) -> None:
    rules = with_roles(rules, royal, "Artist")
    seen = set()
    for seed in range(300):
        face_up = Game(rules, seed=seed).face_up
        assert len(face_up) == 3
        seen |= set(face_up)
    assert seen == set(rules.roles) - {royal}


@pytest.mark.rule("X-17")
@pytest.mark.parametrize("crown", [0, 1])
def test_with_two_players_the_german_emperor_always_crowns_the_other(crown: int) -> None:
    rules = with_roles(GERMAN, "Emperor", players=2)
    g = at(rules, crown=crown, called=3, players=[player("Emperor", "Magician"), player("Bishop", "Warlord")])
    assert (g.question, g.actor, g.crown) == ("PLAY", 0, 1)


@pytest.mark.rule("X-17")
def test_with_two_players_the_french_emperor_leaves_the_crown_where_he_may_not_return_it() -> None:
    rules = with_roles(FRENCH, "Emperor", players=2)
    players = [player("Emperor", "Magician"), player("Bishop", "Warlord", gold=2)]
    g = at(rules, crown=1, called=3, players=players)
    assert (g.question, g.actor, g.crown) == ("PLAY", 0, 1)
    assert g.gold == (0, 2)

    g = at(rules, crown=0, called=3, players=players)
    assert (g.question, g.actor, g.crown) == ("PLAY", 0, 1)
    assert g.gold == (1, 1)
