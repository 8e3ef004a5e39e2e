"""Whole games between agents of all kinds: the same games in whatever way they are played, and games that are recorded."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citadels_agents import AgentError, make, matches, play_games, play_lineups, register, registry
from citadels_agents.networks import Network, NetworkAgent, files, save_network
from citadels_env import AMERICAN, FRENCH, GERMAN, Game
from citadels_env.batch import game_seeds
from one_by_one import play_one
from python_agents import Broken, First
from test_networks import RULES, positions, tensors_of

ROOT = Path(__file__).parent.parent
SEARCH, TREES, CHEATING = "ismcts:iterations=12,opponents=search", "ismcts:iterations=8,trees=2", "cheating:iterations=10"


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Specs of networks: which read full observations, or those of four or five players, and choose the best answer or draw one."""
    folder = tmp_path_factory.mktemp("networks")
    specs = {}
    for rows, hidden in ((8, (32, 16)), (4, (24,)), (5, (20, 12, 9))):
        path = save_network(folder / str(rows), tensors_of(rows, hidden), rules=RULES, rows=rows)
        specs |= {f"best {rows}": f"network:file={path}", f"sample {rows}": f"network:file={path},choice=sample"}
    return specs


@pytest.mark.parametrize(
    ("rules", "lineup"),
    [
        (GERMAN, ("best 4", "heuristic", "heuristic", "heuristic")),
        (FRENCH.with_(add_districts="all"), ("best 8", "sample 4", "expert", "random")),
        (AMERICAN.with_(add_districts="all"), ("sample 8", "opportunist", "best 4", "builder")),
        (GERMAN.with_(players=2), ("sample 8", "expert")),
        (AMERICAN.with_(players=5), ("sample 5", "random", "best 5", "best 8", "economist")),
        (FRENCH.with_(players=7, add_districts="recommended"), ("best 8", "random", "sample 8", "expert", "aggressor", "random", "best 8")),
        (GERMAN.with_(max_rounds=4), ("sample 4", SEARCH, CHEATING, TREES)),
        (FRENCH.with_(players=3, max_rounds=5), ("random", SEARCH, "sample 8")),
        (GERMAN.with_(players=8, max_rounds=6), ("first", "best 8", "random", "expert", "random", "first", "sample 8", "heuristic")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_side_by_side_and_one_by_one_are_the_same_games(rules: Any, lineup: tuple[str, ...], networks: dict[str, str]) -> None:
    made = {name: First() if name == "first" else make(networks.get(name, name)) for name in lineup}
    number = 6
    lineups = [[made[lineup[(seat - k) % len(lineup)]] for seat in range(len(lineup))] for k in range(number)]
    seeds = game_seeds(rules.players, number)
    results = play_lineups(rules, lineups, seeds)
    for k in range(number):
        assert results[k].tobytes() == play_one(rules, lineups[k], int(seeds[k])).tobytes(), k
    assert (play_lineups(rules, lineups, seeds, threads=3) == results).all()
    assert (play_lineups(rules, lineups[4:5], seeds[4:5])[0] == results[4]).all()
    recorded, records = play_lineups(rules, lineups, seeds, record=True)
    assert (recorded == results).all()
    for k in (0, 5):
        assert Game.replay(records[k]).scores() == tuple(results["scores"][k, : rules.players])


def test_compiled_and_plain_python_play_the_same_games_with_a_network(tmp_path: Path) -> None:
    path = save_network(tmp_path / "small", tensors_of(8, (6, 5)), rules=RULES)
    code = f"""
from hashlib import sha256
from citadels_agents import play_games
from citadels_env import GERMAN
agents = ["network:file={path}", "network:file={path},choice=sample", "ismcts:iterations=2", "expert"]
results, records = play_games(GERMAN.with_(max_rounds=2), agents, 2, seed=5, record=True)
print(sha256(results.tobytes() + "".join(records).encode()).hexdigest())
"""
    outputs = []
    for disabled in ("0", "1"):
        search = os.pathsep.join(str(ROOT / part) for part in (".", "agents"))
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": search}
        outputs.append(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True).stdout)
    assert outputs[0] == outputs[1] != ""


def test_a_network_answers_alike_alone_and_among_thousands(networks: dict[str, str]) -> None:
    """Bit for bit: its logits do not depend on what else is asked."""
    games = positions(GERMAN, 60, 200)
    seen, masks = (np.stack([f(game) for game in games]) for f in (Game.observation, Game.mask))
    for spec in networks.values():
        agent = make(spec)
        if agent.network.rows == 5:
            continue
        rngs = game_seeds(3, len(games))
        together = np.zeros(masks.shape, np.float32)
        answers = agent.network.answers(seen, masks, rngs, agent.choice == "sample", together)
        for k in range(len(games)):
            legal = np.flatnonzero(masks[k])
            assert (agent.network.legal_logits(seen[k], legal) == together[k, legal]).all()
            assert agent.act_in(seen[k : k + 1], masks[k : k + 1], rngs[k : k + 1])[0] == answers[k]
        assert np.allclose(together, np.where(masks, agent.network.logits(seen), 0), atol=1e-5)


def test_a_network_whose_logits_are_not_finite_is_named_with_its_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", np.inf)  # otherwise such weights are refused when the network is made
    tensors = tensors_of(8, (8, 8))
    for layer in ("body.0", "body.2"):
        tensors[f"{layer}.weight"] = tensors[f"{layer}.weight"] * np.float32(1e37)
    agent = NetworkAgent("absurd", Network(tensors, 8))
    with pytest.raises(AgentError, match=r"agent absurd in game 1, seat 2: .*absurd does not play: its logits are not finite") as caught:
        play_lineups(GERMAN, [["random"] * 4, ["random", "random", agent, "random"]], game_seeds(4, 2))
    assert Game.replay(caught.value.replay).actor == 2


def test_agents_of_one_spec_are_made_once_unless_they_may_remember(monkeypatch: pytest.MonkeyPatch, networks: dict[str, str]) -> None:
    made: list[str] = []
    original = registry.make

    def counting(spec: str) -> Any:
        made.append(spec)
        return original(spec)

    monkeypatch.setattr(registry, "make", counting)
    play_lineups(GERMAN, [["expert", "random", "expert", networks["best 4"]]] * 20, game_seeds(1, 20))
    assert sorted(made) == sorted(["expert", "random", networks["best 4"]])
    made.clear()
    register("matches-first", First)
    try:
        play_lineups(GERMAN.with_(max_rounds=1), [["matches-first", "random", "random", "matches-first"]] * 2, game_seeds(1, 2))
    finally:
        del registry._FACTORIES["matches-first"]
    assert sorted(made) == ["matches-first"] * 4 + ["random"]


# --- records -------------------------------------------------------------------


@pytest.mark.parametrize("agents", ["expert", ["random", "heuristic", "ismcts:iterations=5", "expert"]])
def test_recorded_games_are_those_that_are_played(agents: Any) -> None:
    rules = FRENCH.with_(add_districts="all", max_rounds=6)
    plain = play_games(rules, agents, 20, seed=3, rotate=True)
    results, records = play_games(rules, agents, 20, seed=3, rotate=True, record=True, threads=2)
    assert (results == plain).all()
    assert len(records) == 20
    seeds = game_seeds(3, 20)
    for k in range(20):
        game = Game.replay(records[k])
        assert game.over
        assert game.seed == int(seeds[k])
        assert len(game.log) == results["decisions"][k] == len(records.answers(k))
        assert game.scores() == tuple(results["scores"][k, :4])
        assert records.game(k).notation() == records[k]
    assert records[-3:] == [records[17], records[18], records[19]]


def test_a_record_grows_with_its_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "ROOM", 16)
    results, records = play_games(GERMAN, "heuristic", 8, seed=2, record=True)
    assert (results == play_games(GERMAN, "heuristic", 8, seed=2)).all()
    assert [len(records.answers(k)) for k in range(8)] == results["decisions"].tolist()
    assert all(Game.replay(text).over for text in records)


def test_games_with_agents_in_python_are_recorded(tmp_path: Path) -> None:
    lineups = [["expert"] * 4, [First(), "expert", "random", "heuristic"]]
    results, records = play_lineups(GERMAN, lineups, game_seeds(1, 2), record=True)
    assert (results == play_lineups(GERMAN, lineups, game_seeds(1, 2))).all()
    assert [Game.replay(text).scores() for text in records] == [tuple(row[:4]) for row in results["scores"].tolist()]
    with pytest.raises(AgentError, match="agent broken in game 0"):
        play_games(GERMAN, [Broken(), "random", "random", "random"], 2, record=True)
