"""Golden games as readable text, and perft: how many positions lie n answers deep.

`python tests/test_golden.py` writes the golden games and the counts anew; look at the difference before committing it.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from citadels_env import EDITIONS, Game, Rules
from citadels_env.signature import rules_sample, signature

FOLDER = Path(__file__).parent / "golden"
PERFT = FOLDER / "perft.json"
DEPTHS = 5


def perft(game: Game, depth: int) -> int:
    """Answers sequences of length `depth` (or to the end) from here."""
    if depth == 0 or game.over:
        return 1
    moves = game.legal_indices()
    if depth == 1:
        return len(moves)
    return sum(perft(game.clone().play(int(move)), depth - 1) for move in moves)


def _positions() -> dict[str, Game]:
    """Situations with many answers: in the draft, and in the turns of several roles."""
    games = {}
    for name, edition in EDITIONS.items():
        games[f"{name}, draft of two"] = Game(edition.with_(players=2), 1)
        games[f"{name}, draft of seven"] = Game(edition.with_(players=7), 1)
    table = [
        {"gold": 6, "hand": ["Palace", "Temple", "Museum"], "city": ["Laboratory", "Manor", "Powder Tower"]},
        {"gold": 2, "hand": ["Tavern"], "city": ["Graveyard", "Tavern", "Castle"]},
        {"gold": 1, "hand": [], "city": ["Keep", "Market"]},
        {"gold": 0, "hand": ["Library", "Harbor"], "city": ["Ballroom"]},
    ]
    for role, called in (("Magician", 2), ("Wizard", 2), ("Emperor", 3), ("Architect", 6), ("Warlord", 7), ("Diplomat", 7)):
        roles = list(EDITIONS["american"].roles)
        rank = {"Magician": 3, "Wizard": 3, "Emperor": 4, "Architect": 7, "Warlord": 8, "Diplomat": 8}[role]
        roles[rank - 1] = role
        others = [r for r in roles if r != role][:3]
        rules = EDITIONS["american"].with_(roles=tuple(roles), add_districts="all")
        players = [dict(player, roles=[name]) for player, name in zip(table, (role, *others), strict=True)]
        games[f"american, {role}"] = Game.from_position(rules, {"players": players, "called": called, "round": 5}, seed=3)
    return games


def test_the_numbers_of_answer_sequences_are_those_on_record() -> None:
    recorded = json.loads(PERFT.read_text())
    games = _positions()
    assert set(recorded) == set(games)
    for name, counts in recorded.items():
        for depth, count in enumerate(counts, 1):
            assert perft(games[name], depth) == count, (name, depth)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_a_golden_game_replays_to_its_recorded_scores(path: Path) -> None:
    text = path.read_text()
    game = Game.replay(text)
    assert game.over
    assert game.notation() == text


def test_there_is_a_golden_game_for_every_edition_and_number_of_players() -> None:
    games = [Game.replay(path.read_text()) for path in FOLDER.glob("*.txt")]
    assert {(g.rules.base_deck, g.rules.players) for g in games} == {(name, n) for name in EDITIONS for n in range(2, 9)}


def _golden(rules: Rules, seed: int) -> Game:
    game, rng = Game(rules, seed), np.random.default_rng(seed)
    while not game.over:
        game.play(int(rng.choice(game.legal_indices())))
    return game


def _write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for seed, rules in enumerate(rules_sample(), 1):
        (FOLDER / f"{rules.base_deck}_{rules.players}_players.txt").write_text(_golden(rules, seed).notation())
    counts = {}
    for name, game in _positions().items():
        counts[name] = [n for depth in range(1, DEPTHS) if (n := perft(game, depth)) < 6000]
    PERFT.write_text(json.dumps(counts, indent=1) + "\n")
    (FOLDER.parent / "signature.txt").write_text(signature() + "\n")


if __name__ == "__main__":
    _write()
