"""Helpers shared by the tests of the rules."""

from collections.abc import Callable, Sequence
from typing import Any

from citadels_env import GERMAN, ROLES, Game, Rules

RANK = {row.name: row.rank for row in ROLES}
PASSIVE = ("end turn", "done", "no", "thank", "take gold", "give gold")  # what `finish` answers, in this order


def at(rules: Rules = GERMAN, *, players: list[dict[str, Any]], seed: int = 0, **position: Any) -> Game:
    """A game in the middle: `players` and the further keys are those of Game.from_position."""
    if rules.players != len(players):
        rules = rules.with_(players=len(players))
    return Game.from_position(rules, {"players": players, **position}, seed=seed)


def seat(*roles: str, gold: int = 0, hand: Sequence[str] = (), city: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """One player of a position; gold, hand and city are empty where nothing is said."""
    return {"roles": list(roles), "gold": gold, "hand": list(hand), "city": list(city), **more}


def using(rules: Rules, *names: str, **changes: Any) -> Rules:
    """`rules` with these roles in the place of the others of their ranks (Artist and Queen come as a ninth)."""
    by_rank = {RANK[name]: name for name in (*rules.roles, *names)}
    return rules.with_(roles=tuple(by_rank[rank] for rank in sorted(by_rank)), **changes)


def table(*first: dict[str, Any], rules: Rules = GERMAN, **position: Any) -> Game:
    """Just before the first seat is called: the seats given, and players with nothing who hold other late ranks."""
    ranks = {RANK[name] for player in first for name in player["roles"]}
    free = [name for name in rules.roles if RANK[name] not in (*ranks, 4)]
    rest = [seat(name) for name in free[len(free) - (4 - len(first)) :]]
    position.setdefault("called", RANK[first[0]["roles"][0]] - 1)
    return at(rules, players=[*first, *rest], **position)


def leftovers(rules: Rules, *without: str) -> list[str]:
    """All cards of the deck except one copy of each of `without`."""
    cards = [name for name, copies in rules.deck.items() for _ in range(copies)]
    for name in without:
        cards.remove(name)
    return cards


def play(g: Game, *answers: str) -> Game:
    """Give these answers, one after the other."""
    for answer in answers:
        g.play(answer)
    return g


def texts(g: Game, prefix: str) -> list[str]:
    """The legal answers that begin with `prefix`."""
    return [text for text in g.legal() if text.startswith(prefix)]


def quiet(g: Game) -> str:
    """The answer that does least: end the turn, decline, take gold; else the last legal one."""
    legal = g.legal()
    return next((text for text in PASSIVE if text in legal), legal[-1])


def finish(g: Game, until: Callable[[Game], bool] | None = None) -> Game:
    """Answer quietly until `until(g)` holds; without it until the round is over."""
    start = g.round_number
    for _ in range(1000):
        if g.over or (until(g) if until else g.round_number != start):
            return g
        g.play(quiet(g))
    raise AssertionError("the awaited moment never came")


def reach(g: Game, role: str) -> Game:
    """Answer quietly until `role` plays its turn."""
    finish(g, lambda g: g.turn_role == role)
    assert g.turn_role == role, f"{role} is never called"
    return g


def end_turn(g: Game) -> Game:
    """Answer quietly until another role's turn (or the next round) begins."""
    here = (g.round_number, g.turn_role)
    return finish(g, lambda g: (g.round_number, g.turn_role) != here)
