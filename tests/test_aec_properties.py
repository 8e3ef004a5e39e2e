"""Properties of the PettingZoo environment over random rules, seeds and ways to play."""

import hashlib
import os
import random
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citadels_env import EDITIONS, Game, Rules, citadels_v0
from citadels_env.cards import FACE_UP, NEW_DISTRICTS, ROLES

SEEDS = st.integers(0, 2**63 - 1)


@st.composite
def some_rules(draw: st.DrawFn) -> Rules:
    """Rules of any edition, player count, role set and choice of new districts."""
    edition = EDITIONS[draw(st.sampled_from(sorted(EDITIONS)))]
    n_roles, players = draw(st.sampled_from(sorted(FACE_UP)))
    roles = [ROLES[2 * rank + draw(st.integers(0, 1))].name for rank in range(n_roles)]
    if players < 5:
        roles = ["Artist" if role == "Queen" else role for role in roles]
    max_rounds = draw(st.sampled_from([1, 8, 60, 250]))
    districts = draw(st.lists(st.sampled_from(NEW_DISTRICTS), unique=True, max_size=len(NEW_DISTRICTS)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Emperor and Queen together
        return edition.with_(players=players, roles=tuple(roles), add_districts=tuple(districts), max_rounds=max_rounds)


def a_few(examples: int) -> Any:
    """Settings for tests that play whole games."""
    return settings(max_examples=examples, deadline=None)


@a_few(25)
@given(some_rules(), SEEDS, st.booleans(), st.sampled_from(["obs", "info", "both"]))
def test_everything_seen_lies_in_its_space(rules: Rules, seed: int, compact: bool, mask_in: str) -> None:
    env = citadels_v0.raw_env(rules=rules, compact=compact, mask_in=mask_in)
    env.reset(seed=seed)
    chooser = random.Random(seed)
    while env.agents:
        acting = env.agent_selection
        over = env.terminations[acting] or env.truncations[acting]
        for agent in env.agents:
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            masks = []
            if mask_in != "info":
                masks.append(observation["action_mask"])
            if mask_in != "obs":
                masks.append(env.infos[agent]["action_mask"])
            for mask in masks:
                assert mask.dtype == np.int8
                assert mask.any() == (agent == acting and not over)
        assert env.state_space.contains(env.state())
        env.step(None if over else chooser.choice(np.flatnonzero(_mask(env)).tolist()))


def _mask(env: Any) -> Any:
    """The mask of the agent to act."""
    observation, *_, info = env.last()
    return observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]


@a_few(40)
@given(some_rules(), SEEDS, st.sampled_from(["win", "rank"]))
def test_rewards_are_conserved(rules: Rules, seed: int, rewards: str) -> None:
    """The sum over all players is the same in every game, and comes at the end alone."""
    env = citadels_v0.env(rules=rules, rewards=rewards)
    env.reset(seed=seed)
    chooser = random.Random(seed)
    received = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        received[agent] += reward
        assert reward == 0 or termination or truncation
        over = termination or truncation
        env.step(None if over else chooser.choice(np.flatnonzero(observation["action_mask"]).tolist()))
    assert sum(received.values()) == pytest.approx(1 if rewards == "win" else 0, abs=1e-5)


@a_few(25)
@given(some_rules(), SEEDS)
def test_the_same_game_as_game(rules: Rules, seed: int) -> None:
    """Seed and answers make the same game here as in `Game`: actor, mask, observations and result."""
    env, game = citadels_v0.raw_env(rules=rules), Game(rules, seed=seed)
    env.reset(seed=seed)
    chooser = random.Random(seed)
    while not game.over:
        assert env.agent_selection == f"player_{game.actor}"
        observation = env.observe(env.agent_selection)
        assert np.array_equal(observation["action_mask"], game.mask())
        assert np.array_equal(observation["observation"], game.observation())
        other = chooser.randrange(rules.players)
        assert np.array_equal(env.observe(f"player_{other}")["observation"], game.observation(other))
        action = chooser.choice(game.legal_indices().tolist())
        env.step(action)
        game.play(action)
    winners = game.winners()
    assert [env.rewards[f"player_{seat}"] for seat in range(rules.players)] == pytest.approx(
        [1 / len(winners) if seat in winners else 0 for seat in range(rules.players)]
    )
    assert all(env.truncations.values()) == game.truncated
    assert all(env.terminations.values()) != game.truncated


@a_few(10)
@given(some_rules(), SEEDS)
def test_looking_changes_nothing(rules: Rules, seed: int) -> None:
    """Observing, rendering, copying and saving leave the game as it is."""
    quiet, watched = citadels_v0.raw_env(rules=rules), citadels_v0.raw_env(rules=rules, render_mode="ansi")
    chooser = random.Random(seed)
    for env in (quiet, watched):
        env.reset(seed=seed)
    while quiet.agents:
        if chooser.random() < 0.05:
            for agent in watched.agents:
                watched.observe(agent)
            watched.render()
            watched.clone().reset(seed=0)
            watched.load_state(watched.save_state())
        assert np.array_equal(quiet.state(), watched.state())
        over = quiet.terminations[quiet.agent_selection] or quiet.truncations[quiet.agent_selection]
        action = None if over else chooser.choice(np.flatnonzero(_mask(quiet)).tolist())
        quiet.step(action)
        watched.step(action)


ANOTHER_PROCESS = """
import hashlib, random
import numpy as np
from citadels_env import FRENCH, citadels_v0
env = citadels_v0.env(rules=FRENCH.with_(add_districts="all"), num_players=6)
digest = hashlib.sha256()
for seed in (5, None, None):
    env.reset(seed=seed)
    chooser = random.Random(0)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        over = termination or truncation
        action = None if over else chooser.choice(np.flatnonzero(observation["action_mask"]).tolist())
        digest.update(f"{agent} {reward} {termination} {truncation} {action}".encode() + observation["observation"].tobytes())
        digest.update(env.state().tobytes())
        env.step(action)
print(digest.hexdigest())
"""


def test_every_process_plays_the_same_games() -> None:
    digests = set()
    for changes in ({"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "123"}, {"NUMBA_DISABLE_JIT": "1"}):
        environment = {**os.environ, **changes}
        run = subprocess.run([sys.executable, "-c", ANOTHER_PROCESS], capture_output=True, text=True, check=True, env=environment)
        digests.add(run.stdout)
    assert len(digests) == 1
    assert len(digests.pop().strip()) == hashlib.sha256().digest_size * 2
