"""Small tables for the tests of the rules: one role is about to play, nothing is left to chance."""

from typing import Any

from citadels_env import GERMAN, Game, Rules
from role_helpers import RANK, with_roles
from rules_helpers import at, texts

QUIET = ("Assassin", "Thief", "Magician", "Architect", "Merchant")  # for seats that only sit there

EIGHT = ["Manor", "Castle", "Temple", "Church", "Tavern", "Market", "Watchtower", "Prison"]  # complete; 16 points, four colours
SEVEN = EIGHT[:7]  # 14 points, four colours


def table(
    role: str,
    me: dict[str, Any],
    *others: dict[str, Any],
    rules: Rules = GERMAN,
    players: int = 4,
    also: tuple[str, ...] = (),
    **position: Any,
) -> Game:
    """Seat 0 holds `role`, which is called now.

    All new districts are in the deck.  What a seat does not say is empty: no gold, no hand, no city, and a quiet role.
    `also` are roles of the game that nobody need hold; the Artist is one of them where a district is beautified.
    """
    seats: list[dict[str, Any]] = [{"roles": [role], **me}, *others]
    seats += [{} for _ in range(players - len(seats))]
    named = [name for seat in seats for name in seat.get("roles", [])]
    if any(name.endswith("*") for seat in seats for name in seat.get("city", [])):
        also = (*also, "Artist")
    ranks = {RANK[name] for name in named} | {RANK[name] for name in also}
    quiet = iter([name for name in QUIET if RANK[name] not in ranks])
    seats = [{"gold": 0, "hand": [], "city": [], **seat, "roles": seat.get("roles") or [next(quiet)]} for seat in seats]
    rules = with_roles(rules, *named, *also, players=len(seats), add_districts="all")
    return at(rules, players=seats, **{"crown": 0, "called": RANK[role] - 1, **position})


def exchanges(g: Game, mine: str) -> list[str]:
    """What the Diplomat may get for `mine`; the table must leave him two choices at least."""
    g = g.clone().play(f"offer {mine}")
    assert g.question == "EXCHANGE"
    assert g.legal() == texts(g, "exchange for ")
    return g.legal()


def exchange(g: Game, mine: str, theirs: str, player: int) -> Game:
    """The Diplomat's exchange, its second part only where it is asked."""
    g.play(f"offer {mine}")
    return g.play(f"exchange for {theirs} of player {player}") if g.question == "EXCHANGE" else g


def outcome(g: Game) -> tuple[tuple[int, ...], list[list[str]]]:
    """Everybody's gold and city."""
    return tuple(int(n) for n in g.gold), [g.city(seat) for seat in range(len(g.gold))]
