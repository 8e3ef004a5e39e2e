"""The PettingZoo environment against PettingZoo's own tests, its wrappers and its registry."""

import copy
import logging
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test, state_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from citadels_env import AMERICAN, FRENCH, GERMAN, Game, Rules, citadels_v0, picture
from citadels_env.actions import DRAW_CARDS, N_ACTIONS, TAKE_GOLD
from citadels_env.cards import DISTRICTS

# PettingZoo exempts only its own environments from these two remarks on observations that are dictionaries.
ABOUT_DICTIONARIES = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}

WORST = GERMAN.with_(
    players=8,
    roles=("Witch", "Tax Collector", "Wizard", "Emperor", "Abbot", "Alchemist", "Navigator", "Diplomat", "Artist"),
    add_districts="all",
)


@pytest.fixture
def remarks() -> Iterator[Callable[[], set[str]]]:
    """The texts of all warnings given during the test."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield lambda: {str(warning.message) for warning in caught}


def play(env: Any, seed: int | None = 0, limit: int = 10**9, choices: int = 0) -> list[tuple[Any, ...]]:
    """Play at random from `reset(seed)`; return everything that was seen."""
    env.reset(seed=seed)
    return go_on(env, limit, choices)


def go_on(env: Any, limit: int = 10**9, choices: int = 0) -> list[tuple[Any, ...]]:
    """Play on at random for `limit` steps or to the end; return everything that was seen."""
    chooser = random.Random(choices)
    seen = []
    while env.agents and len(seen) < limit:
        agent = env.agent_selection
        observation, reward, termination, truncation, info = env.last()
        mask = mask_of(observation, info)
        action = None if termination or truncation else chooser.choice(np.flatnonzero(mask).tolist())
        flat = observation["observation"] if isinstance(observation, dict) else observation
        seen.append((agent, flat.tobytes(), mask.tobytes(), reward, termination, truncation, dict(env.rewards), action))
        env.step(action)
    return seen


def mask_of(observation: Any, info: dict[str, Any]) -> Any:
    """The action mask, wherever it is."""
    return observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]


def finished(env: Any, seed: int = 0) -> Any:
    """`env` played to the end of a game, before anybody has stepped out."""
    env.reset(seed=seed)
    chooser = random.Random(seed)
    while not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        observation, *_, info = env.last()
        env.step(chooser.choice(np.flatnonzero(mask_of(observation, info)).tolist()))
    return env


# --- PettingZoo's own tests ------------------------------------------------------


@pytest.mark.parametrize("make", [citadels_v0.env, citadels_v0.raw_env])
@pytest.mark.parametrize("mask_in", ["obs", "info", "both"])
@pytest.mark.parametrize(
    "rules", [GERMAN, WORST, FRENCH.with_(players=2), AMERICAN.with_(players=7)], ids=lambda rules: f"{rules.players}p"
)
def test_api(make: Callable[..., Any], mask_in: str, rules: Rules, remarks: Callable[[], set[str]]) -> None:
    api_test(make(rules=rules, mask_in=mask_in, compact=rules.players == 7), num_cycles=1000)
    assert remarks() == (set() if mask_in == "info" else ABOUT_DICTIONARIES)


@pytest.mark.parametrize("mask_in", ["obs", "info", "both"])
def test_seed(mask_in: str) -> None:
    seed_test(lambda: citadels_v0.env(mask_in=mask_in))
    seed_test(lambda: citadels_v0.raw_env(rules=WORST, mask_in=mask_in))


def test_render() -> None:
    with pytest.warns(UserWarning, match="'human'"):  # render_test makes one environment with this mode, whatever is offered
        render_test(lambda render_mode: citadels_v0.env(render_mode=render_mode))


@pytest.mark.parametrize("compact", [False, True])
def test_state(compact: bool) -> None:
    env = citadels_v0.env(compact=compact)
    state_test(env, turn_based_aec_to_parallel(citadels_v0.env(compact=compact)))
    parallel_api_test(turn_based_aec_to_parallel(env))


# --- registry and import ---------------------------------------------------------


@pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="PettingZoo has a registry since 1.27")
def test_registry(remarks: Callable[[], set[str]]) -> None:
    for name in ("citadels/citadels-v0", "citadels/citadels_v0"):
        env = pettingzoo.make("aec", name, num_players=6)
        assert play(env) == play(citadels_v0.env(num_players=6))
    citadels_v0._register()
    assert remarks() == set()


def test_a_pettingzoo_without_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pettingzoo, "register", raising=False)
    monkeypatch.delattr(pettingzoo, "aec_registry", raising=False)
    citadels_v0._register()
    assert citadels_v0.env().max_num_agents == 4


def test_importing_the_library_imports_no_environments() -> None:
    names = "('pettingzoo', 'citadels_env.envs', 'citadels_agents')"  # of gymnasium its registry is needed
    code = f"import citadels_env, sys; print([name for name in {names} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# --- spaces, names, metadata -----------------------------------------------------


def test_names_and_spaces() -> None:
    env = citadels_v0.env(num_players=5)
    assert env.possible_agents == [f"player_{seat}" for seat in range(5)]
    assert str(env) == "citadels_v0"
    assert env.metadata["render_modes"] == ["ansi", "rgb_array"]
    for agent in env.possible_agents:
        assert env.action_space(agent) is env.action_space(agent)
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent).n == N_ACTIONS
    assert env.state_space is env.unwrapped.state_space


def test_players_follow_the_rules_unless_given() -> None:
    assert citadels_v0.env().max_num_agents == 4
    assert citadels_v0.env(rules=FRENCH.with_(players=6)).max_num_agents == 6
    assert citadels_v0.env(rules=FRENCH, num_players=3).max_num_agents == 3
    with pytest.raises(ValueError, match="players must be 2 to 8, not 9"):
        citadels_v0.env(num_players=9)


@pytest.mark.parametrize(("argument", "value"), [("rewards", "money"), ("mask_in", "pocket"), ("rules", "german")])
def test_unknown_choices(argument: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"{argument} must be .*, not '{value}'"):
        citadels_v0.env(**{argument: value})


def test_compact_observations_are_shorter() -> None:
    full, short = (citadels_v0.env(num_players=2, mask_in="info", compact=compact) for compact in (False, True))
    assert short.observation_space("player_0").shape < full.observation_space("player_0").shape


def test_full_observations_have_one_size() -> None:
    shapes = {citadels_v0.env(num_players=n, mask_in="info").observation_space("player_0").shape for n in range(2, 9)}
    assert len(shapes) == 1


# --- the course of a game --------------------------------------------------------


def test_mask_in_both_places() -> None:
    env = citadels_v0.raw_env(mask_in="both")
    env.reset(seed=3)
    for _ in range(200):
        observation, *_, info = env.last()
        assert np.array_equal(observation["action_mask"], info["action_mask"])
        env.step(int(np.flatnonzero(info["action_mask"])[-1]))


@pytest.mark.parametrize("mask_in", ["info", "both"])
def test_masks_in_info_of_others_are_zero(mask_in: str) -> None:
    env = citadels_v0.env(mask_in=mask_in)
    env.reset(seed=3)
    for _ in range(100):
        acting = [agent for agent in env.agents if env.infos[agent]["action_mask"].any()]
        assert acting == [env.agent_selection]
        env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[0]))


def test_all_end_together_and_step_out_in_order() -> None:
    env = finished(citadels_v0.env(num_players=5))
    assert all(env.terminations.values()) and not any(env.truncations.values())
    assert env.agent_selection == env.agents[0]
    for agent in env.possible_agents:
        assert env.agent_selection == agent
        assert not env.observe(agent)["action_mask"].any()
        env.step(None)
    assert env.agents == []


def test_the_round_cap_truncates() -> None:
    env = finished(citadels_v0.env(rules=GERMAN.with_(max_rounds=2)))
    assert all(env.truncations.values()) and not any(env.terminations.values())
    assert sum(env.rewards.values()) == pytest.approx(1)


def test_rewards_come_once_and_are_kept_for_everybody() -> None:
    env = citadels_v0.env(num_players=6)
    seen = play(env, seed=5)
    ends = [entry for entry in seen if entry[4]]
    assert all(entry[3] == 0 for entry in seen if not entry[4])
    assert [entry[0] for entry in ends] == env.possible_agents
    assert sum(entry[3] for entry in ends) == pytest.approx(1)


@pytest.mark.parametrize("rewards", ["win", "score", "rank"])
def test_rewards_order_players_as_scores_do(rewards: str) -> None:
    for seed in range(5):
        env = finished(citadels_v0.raw_env(rewards=rewards), seed)
        game = env.game
        given = [env.rewards[agent] for agent in env.agents]
        best = [seat for seat in range(4) if given[seat] == max(given)]
        assert set(game.winners()) <= set(best)
        assert rewards == "score" or best == list(game.winners())
        assert all(given[a] >= given[b] for a in range(4) for b in range(4) if game.scores()[a] > game.scores()[b])


def test_game_shows_the_situation_and_is_a_copy() -> None:
    env = citadels_v0.raw_env()
    env.reset(seed=11)
    game = env.game
    assert game.legal() == Game(GERMAN, seed=11).legal()
    game.play(game.legal()[0])
    assert env.game.legal() == Game(GERMAN, seed=11).legal()


def test_render_shows_the_whole_game() -> None:
    env = citadels_v0.env(render_mode="ansi")
    env.reset(seed=4)
    assert env.render() == str(Game(GERMAN, seed=4))


def test_images_show_the_same_as_the_text() -> None:
    env = citadels_v0.env(render_mode="rgb_array")
    env.reset(seed=4)
    image = env.render()
    assert (image.shape, image.dtype) == ((720, 1280, 3), np.uint8)
    assert (image == picture.of_text(str(Game(GERMAN, seed=4)))).all()


def test_render_without_a_mode_says_so() -> None:
    env = citadels_v0.env()
    env.reset(seed=4)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None


# --- illegal answers -------------------------------------------------------------


@pytest.mark.parametrize("action", [TAKE_GOLD, -1, N_ACTIONS, None, 1.5, "take gold"])
def test_raw_env_refuses_illegal_answers_and_stays_as_it_was(action: Any) -> None:
    env = citadels_v0.raw_env()
    env.reset(seed=0)
    before = env.save_state()
    with pytest.raises(ValueError, match="draft") as refusal:
        env.step(action)
    assert all(text in str(refusal.value) for text in env.game.legal())
    assert ("take gold" if action == TAKE_GOLD else str(action)) in str(refusal.value)
    assert env.save_state() == before


def test_negative_numbers_do_not_count_from_the_end() -> None:
    env = citadels_v0.raw_env()
    env.reset(seed=0)
    env._mask[:] = 1
    assert env.is_legal(N_ACTIONS - 1)
    assert not env.is_legal(-1)


def test_env_ends_the_game_on_an_illegal_answer(caplog: pytest.LogCaptureFixture) -> None:
    env = citadels_v0.env()
    env.reset(seed=0)
    offender = env.agent_selection
    with caplog.at_level(logging.WARNING):
        env.step(TAKE_GOLD)
    assert "[WARNING]: Illegal move made" in caplog.text
    assert all(env.terminations.values()) and all(env.truncations.values())
    assert env.rewards == {agent: -1 if agent == offender else 0 for agent in env.agents}
    while env.agents:
        assert not env.observe(env.agent_selection)["action_mask"].any()
        env.step(None)
    assert play(env) == play(citadels_v0.env())


def test_env_refuses_what_is_no_action() -> None:
    env = citadels_v0.env()
    env.reset(seed=0)
    for action in (-1, N_ACTIONS, None, 1.5, "take gold"):
        with pytest.raises(AssertionError, match="action is not in action space"):
            env.step(action)


def test_a_finished_player_can_only_step_out() -> None:
    for env in (finished(citadels_v0.env()), finished(citadels_v0.raw_env())):
        with pytest.raises((ValueError, AssertionError)):
            env.step(N_ACTIONS)
        with pytest.raises(ValueError, match="only valid action is None"):
            env.step(TAKE_GOLD)


def test_env_enforces_the_order() -> None:
    env = citadels_v0.env()
    for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents"):
        with pytest.raises(AttributeError, match="cannot be accessed before reset"):
            getattr(env, name)
    for call in (env.render, env.state, env.last, env.agent_iter, lambda: env.step(0), lambda: env.observe("player_0")):
        with pytest.raises((AttributeError, AssertionError), match=r"reset\(\) needs to be called before|cannot be accessed before reset"):
            call()
    env.reset(seed=0)
    with pytest.raises(AssertionError, match="need to call step"):
        for _ in env.agent_iter():
            pass


def test_stepping_after_the_end_warns(caplog: pytest.LogCaptureFixture) -> None:
    env = citadels_v0.env()
    play(env)
    with caplog.at_level(logging.WARNING):
        env.step(None)
    assert "[WARNING]: step() called after all agents are terminated or truncated" in caplog.text


def standard(**arguments: Any) -> Any:
    """`raw_env` in PettingZoo's own wrappers."""
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(citadels_v0.raw_env(**arguments), illegal_reward=-1)))


@pytest.mark.parametrize("mask_in", ["obs", "info", "both"])
def test_env_behaves_as_in_the_standard_wrappers(mask_in: str) -> None:
    for seed in range(4):
        ours, theirs = citadels_v0.env(mask_in=mask_in), standard(mask_in=mask_in)
        assert play(ours, seed, choices=seed) == play(theirs, seed, choices=seed)
        for env in (ours, theirs):
            env.reset(seed=seed)
        assert go_on(ours, 40 * seed) == go_on(theirs, 40 * seed)
        illegal = int(np.flatnonzero(mask_of(ours.last()[0], ours.last()[4]) == 0)[seed])
        ours.step(illegal)
        theirs.step(illegal)
        for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "_cumulative_rewards"):
            assert getattr(ours, name) == getattr(theirs, name), name
        assert go_on(ours) == go_on(theirs)


def test_env_is_in_the_standard_wrappers() -> None:
    env = citadels_v0.env()
    assert isinstance(env, OrderEnforcingWrapper)
    assert isinstance(env.env, AssertOutOfBoundsWrapper)
    assert isinstance(env.env.env, TerminateIllegalWrapper)
    assert isinstance(env.unwrapped, citadels_v0.raw_env)


# --- seeds -----------------------------------------------------------------------


def test_the_same_seed_is_the_same_game() -> None:
    env = citadels_v0.env()
    assert play(env, 1) == play(env, 1) == play(citadels_v0.env(), 1)
    assert play(env, 1) != play(env, 2)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_impossible_seeds(seed: int) -> None:
    with pytest.raises(ValueError, match=f"not {seed}"):
        citadels_v0.env().reset(seed=seed)


def test_games_without_a_seed_differ_and_follow_from_the_last_seed() -> None:
    env = citadels_v0.env()
    fresh = [play(env, None, limit=60) for _ in range(3)]
    others = [play(citadels_v0.env(), None, limit=60) for _ in range(3)]
    assert all(a != b for i, a in enumerate(fresh + others) for b in (fresh + others)[:i])
    env.reset(seed=9)
    first = [play(env, None) for _ in range(3)]
    env.reset(seed=9)
    assert [play(env, None) for _ in range(3)] == first
    assert first[0] != first[1] != first[2]
    assert play(env, 9) not in first


def test_global_random_state_is_neither_used_nor_touched() -> None:
    def one_game(seed: int) -> list[tuple[Any, ...]]:
        np.random.seed(seed)
        random.seed(seed)
        before = np.random.get_state()[1].tobytes(), random.getstate()  # type: ignore[union-attr]
        env = citadels_v0.env()
        seen = play(env, 3)
        env.reset()
        assert (np.random.get_state()[1].tobytes(), random.getstate()) == before  # type: ignore[union-attr]
        return seen

    assert one_game(1) == one_game(2)


# --- state -----------------------------------------------------------------------


def test_state_depends_on_the_game_alone() -> None:
    used, fresh = citadels_v0.env(rules=WORST), citadels_v0.env(rules=WORST)
    play(used, 1)
    for env in (used, fresh):
        play(env, 2, limit=30)
    assert np.array_equal(used.state(), fresh.state())


def test_state_shows_the_next_cards_of_the_deck() -> None:
    env = citadels_v0.raw_env()
    chooser = random.Random(0)
    shown = 0
    env.reset(seed=6)
    for _ in range(150):
        if env.is_legal(DRAW_CARDS):
            game, deck = env.game, env.state()[env.state_fields["deck"]]
            assert np.count_nonzero(deck) == game.deck_size
            game.play("draw cards")
            if game.question == "KEEP":
                drawn = {DISTRICTS[int(card) - 1].name for card in deck[:2]}
                assert {f"keep {name}" for name in drawn} == set(game.legal())
                shown += 1
        env.step(chooser.choice(np.flatnonzero(env.last()[0]["action_mask"]).tolist()))
    assert shown > 10


# --- arrays, copies, saving ------------------------------------------------------


@pytest.mark.parametrize("mask_in", ["obs", "info", "both"])
def test_arrays_are_fresh(mask_in: str) -> None:
    untouched = play(citadels_v0.env(mask_in=mask_in), 2)
    env = citadels_v0.env(mask_in=mask_in)
    env.reset(seed=2)
    chooser = random.Random(0)
    for entry in untouched:
        for agent in env.agents:
            spoiled = env.observe(agent)
            for array in spoiled.values() if isinstance(spoiled, dict) else [spoiled]:
                array[:] = 77
        env.state()[:] = 77
        observation, *_, info = env.last()
        flat = observation["observation"] if isinstance(observation, dict) else observation
        assert (flat.tobytes(), mask_of(observation, info).tobytes()) == entry[1:3]
        assert entry[-1] is None or entry[-1] == chooser.choice(np.flatnonzero(mask_of(observation, info)).tolist())
        env.step(entry[-1])
        mask_of(observation, info)[:] = 1


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: cloudpickle.loads(cloudpickle.dumps(env)),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("make", [citadels_v0.env, citadels_v0.raw_env])
@pytest.mark.parametrize("mask_in", ["obs", "info"])
def test_copies_go_on_alike(make: Callable[..., Any], how: str, mask_in: str) -> None:
    whole = len(play(make(mask_in=mask_in), 8))
    for steps in (0, 1, 57, 150, whole - 3, whole):
        env = make(mask_in=mask_in)
        play(env, 8, limit=steps)
        twin = COPIES[how](env)
        rest = go_on(twin)
        assert go_on(env) == rest
        env.reset()
        twin.reset()
        assert go_on(twin) == go_on(env)  # the next games are the same ones, too


@pytest.mark.parametrize("how", COPIES)
def test_copies_can_be_made_before_the_first_game(how: str) -> None:
    env = COPIES[how](citadels_v0.env(num_players=3))
    with pytest.raises(AssertionError, match="before step"):
        env.step(0)
    assert play(env, 1) == play(citadels_v0.env(num_players=3), 1)


@pytest.mark.parametrize("how", [lambda env: env.clone(), copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_are_independent(how: Callable[[Any], Any]) -> None:
    env = citadels_v0.raw_env(mask_in="both")
    env.reset(seed=8)
    play(env, None, limit=100)
    expected = go_on(copy.deepcopy(env))
    twin = how(env)
    assert go_on(twin) == expected
    assert go_on(env) == expected
    assert play(twin, None) == play(env, None)


def test_save_and_load() -> None:
    env, other = citadels_v0.raw_env(), citadels_v0.raw_env()
    whole = len(play(env, 8))
    for steps in (0, 1, 57, 150, whole - 3, whole):
        play(env, 8, limit=steps)
        saved = env.save_state()
        assert isinstance(saved, bytes)
        rest = go_on(env)
        env.reset()
        after = go_on(env)
        for loader in (env, other):
            loader.load_state(saved)
            assert go_on(loader) == rest
            loader.reset()
            assert go_on(loader) == after


def test_load_refuses_what_is_not_its_own() -> None:
    env = citadels_v0.raw_env()
    env.reset(seed=0)
    before = env.save_state()
    other = citadels_v0.raw_env(rules=GERMAN.with_(laboratory_gold=2))
    other.reset(seed=0)
    with pytest.raises(ValueError, match="laboratory_gold"):
        env.load_state(other.save_state())
    for damaged in (b"", b"nonsense", before[:-1], before + b"x"):
        with pytest.raises(ValueError, match="no state saved"):
            env.load_state(damaged)
    assert env.save_state() == before
