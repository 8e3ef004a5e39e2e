"""Positions out of real games: the records just before a rank is called, and the dictionary that says one of them.

`python positions.py FILE SEED...`, under NUMBA_DISABLE_JIT=1, plays random games and writes such records to FILE: only
in plain Python can one step in between the end of a turn and the next call.
"""

import sys
import warnings
from typing import Any

import numpy as np

from citadels_env import Batch, Role, Rules, actions, cards, state, turn
from citadels_env._jit import COMPILED
from citadels_env.cards import DISTRICTS, N_DISTRICTS
from invariants import random_rules

RARE = (cards.HAUNTED_CITY, cards.HOSPITAL, cards.BELL_TOWER, cards.BALLROOM)  # kept and built where it can be


def rules_of_game(seed: int) -> Rules:
    """Random rules, with what positions must be able to say among them more often than by chance."""
    rules = random_rules(seed)
    wanted = {1: "Witch", 3: "Assassin", 4: "Witch"}.get(seed % 5)
    roles = list(rules.roles)
    if wanted:
        roles[0] = wanted
    if seed % 5 in (1, 4):
        roles[1] = "Thief"
    if seed % 5 in (1, 3):
        roles[3] = "King"
    late = {"Ballroom", "Hospital", "Bell Tower"}
    added = tuple(late | set(rules.add_districts))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Emperor and Queen together are allowed
        return rules.with_(roles=tuple(roles), add_districts=added, haunted_city_not_in_last_round=True)


def names_of(counts: Any) -> list[str]:
    """One name for each card counted."""
    return [DISTRICTS[card].name for card in range(N_DISTRICTS) for _ in range(int(counts[card]))]


def position_of(g: Any, rules: Rules) -> dict[str, Any]:
    """The dictionary for `Game.from_position` of a record that stands just before the next rank is called."""
    n = rules.players
    size, bottom = int(g["deck_size"]), int(g["deck_bottom"])
    deck = [DISTRICTS[int(g["deck"][(bottom + height) % state.DECK_CAPACITY])].name for height in range(size)]
    players = []
    for seat in range(n):
        standing, coins = g["city"][seat], g["coins"][seat]
        under = int(g["hand_size"][state.MUSEUM_PILE]) if standing[cards.MUSEUM] else 0
        players.append(
            {
                "gold": int(g["gold"][seat]),
                "hand": names_of(g["hand"][seat]),
                "city": names_of(standing - coins) + [f"{name}*" for name in names_of(coins)],
                "roles": [name for rank, name in enumerate(rules.roles) if g["owner"][rank] == seat],
                "museum": under,
            }
        )
    called = int(g["called"]) + 1
    position: dict[str, Any] = {
        "crown": int(g["crown"]),
        "drafted_first": int(g["draft_first"]),
        "round": int(g["round_number"]),
        "called": called,
        "players": players,
        "deck_top": deck[::-1],
        "discard": names_of(g["hand"][state.DISCARD_PILE]),
        "face_up": [name for rank, name in enumerate(rules.roles) if g["drafted_at"][rank] == state.FACE_UP],
        "end_at": int(g["districts_to_end"]),
        "tax_due": bool(g["rank_1_built"]),
        "haunted_city_this_round": bool(g["haunted_round"] == g["round_number"] and g["city"][:, cards.HAUNTED_CITY].any()),
    }
    for key in ("murdered", "robbed", "bewitched"):
        if g[key] >= 0:
            position[key] = rules.roles[int(g[key])]
    if 0 <= g["murdered"] < called and g["owner"][g["murdered"]] >= 0:
        position["murdered_revealed"] = bool(g["revealed"][g["murdered"]])
    first = [seat for seat in range(n) if int(g["first_completers"]) >> seat & 1]
    if first:
        position["first_completers"] = first
    if rules.roles[3] == "King" and g["heir"] >= 0 and g["murdered"] != 3:
        position["silenced"] = ["King"]
    return position


def capture(seed: int) -> Any:
    """The records just before each call of one random game, in plain Python."""
    found: list[Any] = []
    call_next = turn.call_next

    def note(g: Any) -> None:
        found.append(games.states.view(np.ndarray).copy())
        call_next(g)

    rng = np.random.default_rng(seed)
    wanted = [verb + card for verb in (actions.KEEP, actions.BUILD) for card in RARE]
    games = Batch(rules_of_game(seed), 1, seed=seed, auto_reset=False)
    turn.call_next = note
    try:
        while games.actors[0] >= 0 and len(found) < 120:
            legal = np.flatnonzero(games.masks()[0])
            g, best = games.states[0], [action for action in legal if action in wanted]
            if g["turn_role"] == Role.ASSASSIN and g["city"][:, cards.HOSPITAL].any():
                victims = np.flatnonzero(g["owner"] == g["city"][:, cards.HOSPITAL].argmax())
                best += [
                    action for action in legal if actions.NAME <= action < actions.TAKE_GOLD and (action - actions.NAME) // 2 in victims
                ]
            if g["turn_role"] == Role.KING and actions.STAY_SILENT in legal:
                best.append(actions.STAY_SILENT)
            games.step(np.array([rng.choice(best or legal)]))
    finally:
        turn.call_next = call_next
    return np.concatenate(found)


def main(path: str, *seeds: str) -> None:
    """Write the records of the games of `seeds`, by seed."""
    np.savez_compressed(path, **{seed: capture(int(seed)) for seed in seeds})  # type: ignore[arg-type]


if __name__ == "__main__":
    assert not COMPILED, "set NUMBA_DISABLE_JIT=1"
    main(*sys.argv[1:])
