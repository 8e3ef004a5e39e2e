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

from .checks import json_object, seed_number, shown
from .errors import NotationError
from .rules import Rules

FIRST_LINE = "citadels 1"


def write(rules: Rules, seed: int, position: dict[str, Any] | None, log: list[str], scores: tuple[int, ...] | None) -> str:
    """The text of a game from its rules, seed, starting position (or None), answers and, if it is over, its scores."""
    lines = [FIRST_LINE, f"rules {rules.to_json()}", f"seed {seed}"]
    if position is not None:
        lines.append(f"position {json.dumps(position, sort_keys=True, default=int)}")
    if scores is not None:
        log = [*log, "scores " + " ".join(map(str, scores))]
    return "\n".join(lines + log) + "\n"


def replay(game_class: Any, text: str) -> Any:
    """Play a written game again; raises NotationError (a ValueError), naming the line, where the text is no game."""
    if not isinstance(text, str):
        raise NotationError(f"a game is written as a text, not {shown(text)}")
    lines = text.strip().splitlines()
    if not lines or lines[0].strip() != FIRST_LINE:
        raise NotationError(f"line 1: a game begins with {FIRST_LINE!r}, not {shown(lines[0] if lines else '')}")
    header: dict[str, Any] = {}
    at = 1
    while at < len(lines) and not lines[at].startswith(("player ", "scores ")):
        key, _, value = lines[at].partition(" ")
        if key not in ("rules", "seed", "position") or key in header:
            raise NotationError(f"line {at + 1}: expected rules, seed or position once each, not {shown(lines[at])}")
        try:
            header[key] = _read(key, value)
        except ValueError as error:
            raise NotationError(f"line {at + 1}: {error}") from error
        at += 1
    for key in ("rules", "seed"):
        if key not in header:
            raise NotationError(f"the header names no {key}")
    try:
        if "position" in header:
            game = game_class.from_position(header["rules"], header["position"], header["seed"])
        else:
            game = game_class(header["rules"], header["seed"])
    except ValueError as error:
        raise NotationError(f"the position: {error}") from error
    for number, line in enumerate(lines[at:], at + 1):
        if line.startswith("scores ") and game.over:
            if line.split()[1:] != [str(n) for n in game.scores()]:
                raise NotationError(f"line {number}: the scores are {game.scores()}, not {shown(line)}")
            continue
        who, _, answer = line.partition(": ")
        if who != f"player {game.actor}":
            raise NotationError(f"line {number}: {game.actor if game.actor is not None else 'nobody'} must answer, not {shown(who)}")
        try:
            game.play(answer)
        except ValueError as error:
            raise NotationError(f"line {number}: {error}") from error
    return game


def _read(key: str, value: str) -> Any:
    """A value of the header."""
    if key == "rules":
        return Rules.from_dict(json_object("rules", value))
    if key == "position":
        return json_object("position", value)
    return seed_number(int(value) if value.strip().isdecimal() else value)
