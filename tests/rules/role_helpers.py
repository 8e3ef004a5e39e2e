"""Players, role sets and small steps for the tests of rulings and roles."""

from typing import Any

import pytest

from citadels_env import EDITIONS, ROLES, Game, Rules
from rules_helpers import quiet

BASE = ("Assassin", "Thief", "Magician", "King", "Bishop", "Merchant", "Architect", "Warlord")
RANK = {row.name: row.rank for row in ROLES}

every_edition = pytest.mark.parametrize("rules", EDITIONS.values(), ids=EDITIONS)


def editions(*names: str) -> pytest.MarkDecorator:
    """Run the test with these editions only."""
    return pytest.mark.parametrize("rules", [EDITIONS[name] for name in names], ids=names)


def player(*roles: str, gold: int = 0, hand: tuple[str, ...] = (), city: tuple[str, ...] = ()) -> dict[str, Any]:
    """A player of a position; without gold, cards and districts unless given."""
    return {"roles": list(roles), "gold": gold, "hand": list(hand), "city": list(city)}


def with_roles(rules: Rules, *names: str, players: int = 4, **options: Any) -> Rules:
    """These rules with the base game's roles, where `names` take the places of their ranks."""
    chosen = {RANK[name]: name for name in BASE} | {RANK[name]: name for name in names}
    return rules.with_(players=players, roles=tuple(chosen[rank] for rank in sorted(chosen)), **options)


def draw(g: Game) -> Game:
    """Draw cards as the action and keep the first that is offered."""
    g.play("draw cards")
    while g.question == "KEEP":
        g.play(g.legal()[0])
    return g


def askers(g: Game) -> list[int]:
    """Play quietly to the end of the round; the seats that were asked, in this order."""
    start, seats = g.round_number, []
    while not g.over and g.round_number == start:
        seats.append(g.actor)
        g.play(quiet(g))
    return seats
