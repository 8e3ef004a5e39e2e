"""A game as text: a header with rules, seed and, where it began from one, the position; then one answer a line.

    citadels 1
    rules {"players": 4, ...}
    seed 7
    player 0: draft King
    ...
    scores 24 19 30 22

The last line stands in finished games only, and is checked when the game is replayed.
"""

import json
from typing import Any

from .rules import Rules

FIRST_LINE = "citadels 1"


def write(rules: Rules, seed: int, position: dict[str, Any] | None, log: list[str], scores: tuple[int, ...] | None) -> str:
    """The text of a game from its rules, seed, starting position (or None), answers and, if it is over, its scores."""
    lines = [FIRST_LINE, f"rules {rules.to_json()}", f"seed {seed}"]
    if position is not None:
        lines.append(f"position {json.dumps(position, sort_keys=True)}")
    if scores is not None:
        log = [*log, "scores " + " ".join(map(str, scores))]
    return "\n".join(lines + log) + "\n"


def replay(game_class: Any, text: str) -> Any:
    """Play a written game again; raises ValueError, naming the line, where the text is no game."""
    lines = text.strip().splitlines()
    if not lines or lines[0].strip() != FIRST_LINE:
        raise ValueError(f"line 1: a game begins with {FIRST_LINE!r}, not {lines[0] if lines else ''!r}")
    header: dict[str, Any] = {}
    at = 1
    while at < len(lines) and not lines[at].startswith(("player ", "scores ")):
        key, _, value = lines[at].partition(" ")
        if key not in ("rules", "seed", "position") or key in header:
            raise ValueError(f"line {at + 1}: expected rules, seed or position once each, not {lines[at]!r}")
        try:
            header[key] = Rules.from_json(value) if key == "rules" else json.loads(value)
        except ValueError as error:
            raise ValueError(f"line {at + 1}: {error}") from error
        at += 1
    for key in ("rules", "seed"):
        if key not in header:
            raise ValueError(f"the header names no {key}")
    if "position" in header:
        game = game_class.from_position(header["rules"], header["position"], header["seed"])
    else:
        game = game_class(header["rules"], header["seed"])
    for number, line in enumerate(lines[at:], at + 1):
        if line.startswith("scores ") and game.over:
            if line.split()[1:] != [str(n) for n in game.scores()]:
                raise ValueError(f"line {number}: the scores are {game.scores()}, not {line!r}")
            continue
        who, _, answer = line.partition(": ")
        if who != f"player {game.actor}":
            raise ValueError(f"line {number}: {game.actor if game.actor is not None else 'nobody'} must answer, not {who!r}")
        try:
            game.play(answer)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    return game
