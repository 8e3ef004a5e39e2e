"""The Gymnasium environments: Gymnasium's own checks and wrappers, seeds, ends of games, bad input, copies."""

import copy
import gc
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation, RenderCollection
from gymnasium.wrappers import RecordEpisodeStatistics as RecordOneStatistics
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from citadels_agents import make
from citadels_agents.envs.single import CitadelsEnv
from citadels_agents.envs.vector import OF_EACH, CitadelsVectorEnv
from citadels_env import AMERICAN, FRENCH, GERMAN, Game, observation, picture
from citadels_env.actions import N_ACTIONS, TAKE_GOLD
from citadels_env.batch import next_seeds

ID = "citadels_env:Citadels-v0"
SHORT = GERMAN.with_(city_size=6)
MODES = list(AutoresetMode)
DOCS = (Path(__file__).parent.parent / "docs" / "environments.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """Gymnasium says in warnings what it does not like."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module="gymnasium")
        warnings.filterwarnings("error", category=UserWarning)
        yield


def legal(env: Any, rng: np.random.Generator) -> int:
    """A random legal action of a single environment."""
    return int(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))


def play(env: Any, seed: int | None, limit: int = 10**9, dealt: bool = False, choices: int = 0) -> list[Any]:
    """Play at random to the end of the game (or `limit` steps): everything that was seen, as bytes."""
    rng = np.random.default_rng(choices)
    seen: list[Any] = []
    if not dealt:
        seen.append(frozen(env.reset(seed=seed)))
    over = False
    while not over and len(seen) < limit:
        *rest, info = env.step(legal(env, rng))
        over = rest[2] or rest[3]
        seen.append(frozen((*rest, info)))
    return seen


def frozen(value: Any) -> Any:
    """A value that can be compared."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return tuple(frozen(one) for one in value)
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, dict):
        return {key: frozen(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return tuple(frozen(one) for one in value)
    return value


def random_actions(masks: Any, rng: np.random.Generator) -> Any:
    return (rng.random(masks.shape) * masks).argmax(1)


# --- Gymnasium's own checks ------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mask_in": "info", "seat": 2, "rewards": "score"},
        {"mask_in": "both", "num_players": 2, "compact": True, "rewards": "rank"},
        {"rules": FRENCH.with_(add_districts="all"), "num_players": 8, "opponents": {"expert": 1, "random": 3}},
        {"rules": [GERMAN, AMERICAN.with_(players=6)], "opponents": ["random"] * 5},
    ],
)
def test_gymnasium_finds_nothing_wrong(options: dict[str, Any]) -> None:
    check_env(gymnasium.make(ID, **options).unwrapped)


def test_the_name_is_known_after_importing_the_rules_and_entered_once() -> None:
    program = (
        "import sys, warnings; warnings.simplefilter('error')\n"
        "import citadels_env, importlib, gymnasium\n"
        "assert 'citadels_agents' not in sys.modules\n"
        "importlib.reload(citadels_env)\n"
        "print(gymnasium.spec('Citadels-v0').vector_entry_point)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "citadels_agents.envs.vector:CitadelsVectorEnv"


def test_make_passes_the_options_on() -> None:
    env = gymnasium.make(ID, num_players=5, seat=3, mask_in="info", compact=True)
    assert isinstance(env.unwrapped, CitadelsEnv)
    seen, info = env.reset(seed=1)
    assert seen.shape == (observation.size(5),)
    assert info["seat"] == 3
    envs = gymnasium.make_vec(ID, num_envs=3, num_players=5, seat=3, autoreset_mode="SAME_STEP")
    assert isinstance(envs, CitadelsVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.reset(seed=1)[1]["seat"].tolist() == [3, 3, 3]


@pytest.mark.parametrize("mode", [value for mode in MODES for value in (mode, mode.name, mode.value)])
def test_an_autoreset_mode_may_be_given_by_name(mode: Any) -> None:
    given = gymnasium.make_vec(ID, num_envs=1, autoreset_mode=mode).metadata["autoreset_mode"]
    assert given in (mode, AutoresetMode[mode] if mode in AutoresetMode.__members__ else AutoresetMode(mode))


# --- seeds and games -------------------------------------------------------------


def test_a_seed_deals_the_game_that_this_seed_is() -> None:
    env = CitadelsEnv(seat=0)
    for seed in (7, 2**64 - 1):
        env.reset(seed=seed)
        assert env.game.crown == Game(GERMAN, seed).crown
        assert env.game.hand(0) == Game(GERMAN, seed).hand(0)
    assert play(env, 7) == play(env, 7) == play(CitadelsEnv(seat=0), 7) != play(env, 8)


def test_without_a_seed_the_next_game_of_the_same_sequence_comes() -> None:
    env = CitadelsEnv()
    play(env, 9)
    following = [play(env, None) for _ in range(2)]
    seed = next_seeds(np.array([9], np.uint64))
    assert following == [play(env, int(seed[0])), play(env, int(next_seeds(seed)[0]))]


def test_the_first_game_without_a_seed_is_a_fresh_one() -> None:
    assert len({CitadelsEnv().reset()[0]["observation"].tobytes() for _ in range(3)}) > 1
    envs = CitadelsVectorEnv(8)
    assert len(np.unique(envs.reset()[0]["observation"], axis=0)) > 1


def test_the_seat_is_drawn_from_the_seed_and_may_be_given() -> None:
    env = CitadelsEnv(num_players=6)
    seats = [env.reset(seed=seed)[1]["seat"] for seed in range(60)]
    assert seats == [env.reset(seed=seed)[1]["seat"] for seed in range(60)]
    assert set(seats) == set(range(6))
    assert {CitadelsEnv(num_players=6, seat=4).reset(seed=seed)[1]["seat"] for seed in range(5)} == {4}


def test_opponents_sit_at_their_distance_to_the_left() -> None:
    env = CitadelsEnv(opponents=["random", "expert", "builder"], seat=1)
    batch = env._batch
    names = [agent.name for agent in batch.agents]
    env.reset(seed=3)
    assert [names[batch.games["seating"][0, seat]] for seat in (2, 3, 0)] == ["random", "expert", "builder"]


class First:
    """An agent in Python: the first legal answer."""

    name = "first"

    def act(self, view: Any) -> int:
        """Answer."""
        return int(view.legal_indices()[0])


@pytest.mark.parametrize("opponents", [make("builder"), First(), [First(), "random", make("expert")], "ismcts:iterations=4"])
def test_opponents_may_be_agents_of_any_kind(opponents: Any) -> None:
    seen = play(CitadelsEnv(rules=SHORT, opponents=opponents), 4)
    assert seen == play(CitadelsEnv(rules=SHORT, opponents=opponents), 4)
    assert seen[-1][2] is True


def test_a_stronger_opponent_wins_more() -> None:
    shares = []
    for opponents in ("random", "expert"):
        envs = CitadelsVectorEnv(200, opponents=opponents, autoreset_mode="DISABLED")
        envs.reset(seed=0)
        rng = np.random.default_rng(0)
        won, over = 0.0, np.zeros(200, bool)
        while not over.all():
            _, rewards, terminated, truncated, _ = envs.step(random_actions(envs.action_masks(), rng))
            won += rewards[~over].sum()
            ended = terminated | truncated
            over |= ended
            if ended.any():
                envs.reset(options={"reset_mask": ended})
        shares.append(won / 200)
    assert shares[0] > 0.15 > 0.05 > shares[1]


# --- the course of a game --------------------------------------------------------


def test_the_end_tells_scores_and_rewards_the_seat() -> None:
    for seed in range(6):
        env = CitadelsEnv(num_players=3, opponents="random", rewards="score")
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        terminated = False
        while not terminated:
            seen, reward, terminated, truncated, info = env.step(legal(env, rng))
            assert not truncated
            assert terminated or (reward == 0 and info == {})
        assert info["seat"] == env.seat
        assert tuple(info["scores"][:3]) == env.game.scores()
        assert info["rounds"] == env.game.round_number
        assert reward == pytest.approx((info["scores"][env.seat] - info["scores"][:3].mean()) / 10)
        assert not seen["action_mask"].any() and not env.action_masks().any()
        assert (seen["observation"] == env.game.observation(env.seat)).all()


def test_a_game_cut_off_is_truncated() -> None:
    rules = GERMAN.with_(max_rounds=2)
    last = play(CitadelsEnv(rules=rules), 1)[-1]
    assert last[2:4] == (False, True)
    envs = CitadelsVectorEnv(4, rules=rules)
    envs.reset(seed=1)
    cut = np.zeros(4, bool)
    for _ in range(60):
        _, _, terminated, truncated, _ = envs.step(envs.action_masks().argmax(1))
        assert not terminated.any()
        cut |= truncated
    assert cut.all()


@pytest.mark.parametrize("mask_in", ["obs", "info", "both"])
def test_the_mask_stands_where_it_is_wanted(mask_in: str) -> None:
    env, envs = CitadelsEnv(mask_in=mask_in), CitadelsVectorEnv(2, mask_in=mask_in)
    for step in range(3):
        for which in (env, envs):
            shown = which.step(which.action_masks().argmax(-1)) if step else which.reset(seed=5)
            masks = [part["action_mask"] for part in (shown[0], shown[-1]) if isinstance(part, dict) and "action_mask" in part]
            assert len(masks) == 1 + (mask_in == "both")
            assert isinstance(shown[0], dict) == (mask_in != "info")
            assert all((mask == which.action_masks()).all() and mask.any() and mask.dtype == np.int8 for mask in masks)
            assert which.observation_space.contains(shown[0])


def test_arrays_are_the_callers_own() -> None:
    for mask_in in ("obs", "info", "both"):
        untouched = play(CitadelsEnv(mask_in=mask_in), 2)
        env = CitadelsEnv(mask_in=mask_in)
        rng = np.random.default_rng(0)
        given = env.reset(seed=2)
        for entry in untouched:
            assert frozen(given) == entry
            for part in (given[0], given[-1]):
                for array in part.values() if isinstance(part, dict) else [part]:
                    if isinstance(array, np.ndarray):
                        array[:] = 1
            env.action_masks()[:] = True
            if entry is not untouched[-1]:
                given = env.step(legal(env, rng))


def test_a_vector_environment_returns_copies_unless_told_otherwise() -> None:
    for copied in (True, False):
        envs = CitadelsVectorEnv(4, mask_in="both", copy=copied)
        first, infos = envs.reset(seed=0)
        before = first["observation"].copy(), first["action_mask"].copy(), infos["action_mask"].copy()
        masks = envs.action_masks()
        second = envs.step(masks.argmax(1))[0]
        assert (first["observation"] == before[0]).all() == copied
        assert (first["action_mask"] == before[1]).all() == copied
        assert (infos["action_mask"] == before[2]).all()
        for name in second:
            assert np.shares_memory(first[name], second[name]) != copied
        assert np.shares_memory(masks, envs.action_masks()) != copied


def test_rendering_shows_the_whole_game() -> None:
    env = gymnasium.make(ID, render_mode="ansi", seat=0)
    env.reset(seed=4)
    assert env.render() == str(env.unwrapped.game)
    assert env.unwrapped.game.hand(2)[0] in env.render()
    envs = gymnasium.make_vec(ID, num_envs=2, render_mode="ansi", seat=0)
    envs.reset(seed=4)
    assert envs.render() == (str(env.unwrapped.game), str(envs.unwrapped.game(1)))
    with pytest.warns(UserWarning, match="render mode"):
        assert CitadelsEnv().render() is None


# --- many games ------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mask_in", ["obs", "info", "both"])
def test_many_games_are_what_gymnasium_makes_of_single_ones(mode: AutoresetMode, mask_in: str) -> None:
    options = {
        "rules": [SHORT, FRENCH.with_(players=3, max_rounds=3)],
        "mask_in": mask_in,
        "opponents": {"random": 2, "expert": 1},
    }
    ours = CitadelsVectorEnv(7, autoreset_mode=mode, **options)  # type: ignore[arg-type]
    theirs = SyncVectorEnv([lambda: CitadelsEnv(**options)] * 7, autoreset_mode=mode)  # type: ignore[arg-type]
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    rng = np.random.default_rng(0)
    assert frozen(ours.reset(seed=11)) == frozen(theirs.reset(seed=11))
    ends = cut = 0
    for _ in range(400):
        actions = random_actions(ours.action_masks(), rng)
        one, two = ours.step(actions), theirs.step(actions)
        assert frozen(one) == frozen(two)
        ended = one[2] | one[3]
        ends, cut = ends + ended.sum(), cut + one[3].sum()
        if mode is AutoresetMode.DISABLED and ended.any():
            assert frozen(ours.reset(options={"reset_mask": ended})) == frozen(theirs.reset(options={"reset_mask": ended}))
    assert ends - cut > 10 and cut > 10
    assert frozen(ours.reset()) == frozen(theirs.reset())
    assert frozen(ours.reset(seed=[3, None, 4, 5, 6, 7, 8])) == frozen(theirs.reset(seed=[3, None, 4, 5, 6, 7, 8]))


@pytest.mark.parametrize("mode", MODES)
def test_a_partial_reset_leaves_the_other_games_as_they_are(mode: AutoresetMode) -> None:
    options = {"rules": GERMAN.with_(max_rounds=2), "mask_in": "both"}
    ours = CitadelsVectorEnv(3, autoreset_mode=mode, **options)  # type: ignore[arg-type]
    theirs = SyncVectorEnv([lambda: CitadelsEnv(**options)] * 3, autoreset_mode=mode)  # type: ignore[arg-type]
    for envs in (ours, theirs):
        envs.reset(seed=[4, 4, 4])  # all end in the same step
    for _ in range(2):
        cut = np.zeros(3, bool)
        while not cut.any():
            actions = ours.action_masks().argmax(1)
            one, two = ours.step(actions), theirs.step(actions)
            assert frozen(one) == frozen(two)
            cut = one[3]
        assert cut.all()
        for again in (np.array([False, True, False]), np.array([True, False, True])):
            seeds: Any = [5, 5, 5]
            assert frozen(ours.reset(seed=seeds, options={"reset_mask": again})) == frozen(
                theirs.reset(seed=seeds, options={"reset_mask": again.copy()})
            )
            if again[1] and mode is AutoresetMode.DISABLED:
                assert ours.action_masks().any(axis=1).tolist() == [False, True, False]
                with pytest.raises(ResetNeeded, match="game 0 is over"):
                    ours.step(ours.action_masks().argmax(1))


@pytest.mark.parametrize("mode", MODES)
def test_searches_and_agents_in_python_play_in_many_games_too(mode: AutoresetMode) -> None:
    options = {"rules": GERMAN.with_(max_rounds=1), "opponents": [First(), "ismcts:iterations=3", "random"]}
    ours = CitadelsVectorEnv(3, autoreset_mode=mode, **options)  # type: ignore[arg-type]
    theirs = SyncVectorEnv([lambda: CitadelsEnv(**options)] * 3, autoreset_mode=mode)  # type: ignore[arg-type]
    assert frozen(ours.reset(seed=2)) == frozen(theirs.reset(seed=2))
    ends = 0
    for _ in range(12):
        actions = ours.action_masks().argmax(1)
        one, two = ours.step(actions), theirs.step(actions)
        assert frozen(one) == frozen(two)
        ends += one[3].sum()
        if mode is AutoresetMode.DISABLED and one[3].any():
            assert frozen(ours.reset(options={"reset_mask": one[3]})) == frozen(theirs.reset(options={"reset_mask": one[3]}))
    assert ends > 3


@pytest.mark.parametrize("mode", MODES)
def test_an_illegal_action_ends_its_own_game_only(mode: AutoresetMode) -> None:
    options = {"mask_in": "both"}
    ours = CitadelsVectorEnv(5, autoreset_mode=mode, **options)  # type: ignore[arg-type]
    theirs = SyncVectorEnv([lambda: CitadelsEnv(**options)] * 5, autoreset_mode=mode)  # type: ignore[arg-type]
    ours.reset(seed=1)
    theirs.reset(seed=1)
    for step in range(30):
        actions = ours.action_masks().argmax(1)
        wrong = np.zeros(5, bool)
        if step % 6 == 3:
            wrong[[1, 4]] = True
            actions[wrong] = N_ACTIONS - 1
        one, two = ours.step(actions), theirs.step(actions)
        for parts in (one, two):
            infos = parts[4]["final_info"] if mode is AutoresetMode.SAME_STEP and wrong.any() else parts[4]
            assert (infos.pop("_illegal_action", np.zeros(5, bool)) == wrong).all()
            told = infos.pop("illegal_action", [])
            assert not wrong.any() or (told[1] == N_ACTIONS - 1 if parts is one else f"{N_ACTIONS - 1} (" in told[1])
        assert frozen(one) == frozen(two)
        assert (one[1][wrong] == -1).all() and one[2][wrong].all()
        if mode is AutoresetMode.DISABLED and wrong.any():
            ours.reset(options={"reset_mask": wrong})
            theirs.reset(options={"reset_mask": wrong})


def test_the_next_step_mode_ignores_the_action_of_the_step_that_deals() -> None:
    games = [CitadelsVectorEnv(3, rules=SHORT) for _ in range(2)]
    for envs in games:
        envs.reset(seed=0)
    rng = np.random.default_rng(0)
    waiting, seen = np.zeros(3, bool), 0
    for _ in range(300):
        actions = random_actions(games[0].action_masks(), rng)
        assert not games[0].action_masks()[waiting].any()
        other = np.where(waiting, 10**6, actions)
        one, two = games[0].step(actions), games[1].step(other)
        assert frozen(one) == frozen(two)
        assert (one[1][waiting] == 0).all() and not (one[2] | one[3])[waiting].any()
        seen += waiting.sum()
        waiting = one[2] | one[3]
    assert seen > 5


@pytest.mark.parametrize("mode", MODES)
def test_gymnasiums_statistics_count_our_games(mode: AutoresetMode) -> None:
    envs = RecordEpisodeStatistics(gymnasium.make_vec(ID, num_envs=4, rules=SHORT, autoreset_mode=mode))
    envs.reset(seed=2)
    rng = np.random.default_rng(0)
    lengths, expected, given = np.zeros(4, int), [], []
    dealing = np.zeros(4, bool)
    for _ in range(300):
        _, rewards, terminated, truncated, infos = envs.step(random_actions(envs.unwrapped.action_masks(), rng))
        lengths[~dealing] += 1
        ended = terminated | truncated
        for place in np.flatnonzero(ended):
            assert infos["episode"]["r"][place] == rewards[place]
            expected.append(lengths[place])
            given.append(infos["episode"]["l"][place])
            lengths[place] = 0
        dealing = ended if mode is AutoresetMode.NEXT_STEP else np.zeros(4, bool)
        if mode is AutoresetMode.DISABLED and ended.any():
            envs.reset(options={"reset_mask": ended})
    assert len(expected) > 10
    old = gymnasium.__version__ < "1.3"  # which takes one off each episode but the first in SAME_STEP
    assert given == expected or (old and mode is AutoresetMode.SAME_STEP)


def test_gymnasiums_wrappers_of_one_game_work() -> None:
    env = RecordOneStatistics(FlattenObservation(gymnasium.make(ID, rules=SHORT, mask_in="info")))
    seen = play(env, 3)
    assert seen[-1][4]["episode"]["l"] == len(seen) - 1
    flat = FlattenObservation(gymnasium.make(ID))
    assert flat.reset(seed=0)[0].shape == (observation.size() + N_ACTIONS,)


def calls_of(function: Callable[[], Any]) -> int:
    """How many functions are called, those written in C included."""
    count = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()  # what is collected meanwhile has finalizers that would be counted
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mask_in", ["obs", "both"])
def test_a_step_calls_no_function_for_single_games(mode: AutoresetMode, mask_in: str) -> None:
    counts = {}
    for number in (8, 512):
        envs = CitadelsVectorEnv(number, rules=GERMAN.with_(max_rounds=3), mask_in=mask_in, autoreset_mode=mode)
        envs.reset(seed=np.zeros(number, int).tolist())  # the same game in all places: all end in the same step
        found: list[tuple[int, str]] = []
        for _ in range(60):
            actions = envs.action_masks().argmax(1)
            if len(found) == 40:
                actions[:] = N_ACTIONS - 1
            results: list[Any] = []
            calls = calls_of(lambda envs=envs, actions=actions, results=results: results.append(envs.step(actions)))
            ended = results[0][2] | results[0][3]
            assert ended.all() or not ended.any()
            found.append((calls, "end" if ended.any() else "step"))
            if mode is AutoresetMode.DISABLED and ended.any():
                envs.reset()
        counts[number] = found
    assert counts[8] == counts[512]
    assert {kind for _, kind in counts[8]} == {"end", "step"}


def test_games_do_not_depend_on_threads() -> None:
    one, two = (CitadelsVectorEnv(600, rules=SHORT, threads=threads) for threads in (1, 2))
    assert frozen(one.reset(seed=1)) == frozen(two.reset(seed=1))
    for _ in range(40):
        actions = one.action_masks().argmax(1)
        assert frozen(one.step(actions)) == frozen(two.step(actions))


# --- bad input -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "german"}, "rules must be Rules, such as .* not 'german'"),
        ({"rules": []}, "at least one"),
        ({"num_players": 9}, "players must be 2 to 8, not 9"),
        ({"opponents": "nobody"}, "nobody"),
        ({"opponents": ["random"]}, "need 3 opponents, not 1"),
        ({"opponents": {"random": -1}}, "opponents must be 1 shares"),
        ({"opponents": "self"}, "SeatedBatch"),
        ({"opponents": ["random", "self", "random"]}, "SeatedBatch"),
        ({"seat": 4}, "seat must be a whole number from 0 to 3, not 4"),
        ({"seat": "left"}, "seat must be .*, not 'left'"),
        ({"rewards": "money"}, "rewards must be one of win, score, rank, not 'money'"),
        ({"mask_in": "pocket"}, "mask_in must be one of obs, info, both, not 'pocket'"),
        ({"illegal": "ignore"}, "illegal must be one of terminate, raise, not 'ignore'"),
        ({"render_mode": "human"}, "render_mode must be one of None, ansi, rgb_array, not 'human'"),
        ({"rules": [GERMAN, GERMAN.with_(players=3)], "compact": True}, "same number of players"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    for kind in (CitadelsEnv, CitadelsVectorEnv):
        with pytest.raises(ValueError, match=message):
            kind(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs must be a whole number from 1 to 1,000,000, not 0"),
        ({"threads": 0}, "threads must be a whole number from 1 to 4,096, not 0"),
        ({"autoreset_mode": "never"}, "autoreset_mode must be one of NEXT_STEP, SAME_STEP, DISABLED, not 'never'"),
    ],
)
def test_impossible_options_of_many_games_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CitadelsVectorEnv(**options)


@pytest.mark.parametrize("action", [TAKE_GOLD, N_ACTIONS - 1])
def test_an_illegal_action_ends_the_game_and_says_why(action: int) -> None:
    env = CitadelsEnv(mask_in="both")
    first, _ = env.reset(seed=0)
    texts = env.game.legal()
    seen, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1, True, False)
    assert all(text in info["illegal_action"] for text in (str(action), "DRAFT", *texts))
    assert (seen["observation"] == first["observation"]).all()
    assert not seen["action_mask"].any() and not info["action_mask"].any() and not env.action_masks().any()
    with pytest.raises(ResetNeeded, match="over"):
        env.step(0)
    assert play(env, 0) == play(CitadelsEnv(mask_in="both"), 0)


@pytest.mark.parametrize("action", [-1, N_ACTIONS, None, 1.5, "take gold", np.zeros(2, int)])
def test_what_is_no_action_is_refused_and_changes_nothing(action: Any) -> None:
    env = CitadelsEnv()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"not a legal answer of player \d to DRAFT; legal: draft"):
        env.step(action)
    assert play(env, None, dealt=True) == play(CitadelsEnv(), 0)[1:]


def test_illegal_actions_raise_if_so_wished_and_change_nothing() -> None:
    env = CitadelsEnv(illegal="raise")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=rf"{TAKE_GOLD} \(take gold\) is not a legal answer of player \d to DRAFT; legal: draft"):
        env.step(TAKE_GOLD)
    assert play(env, None, dealt=True) == play(CitadelsEnv(), 0)[1:]
    games = [CitadelsVectorEnv(3, illegal=illegal) for illegal in ("raise", "terminate")]
    for envs in games:
        envs.reset(seed=0)
    actions = games[0].action_masks().argmax(1)
    with pytest.raises(ValueError, match=rf"game 1: '?{TAKE_GOLD} \(take gold\).* legal: draft"):
        games[0].step(np.where(np.arange(3) == 1, TAKE_GOLD, actions))
    assert frozen(games[0].step(actions)) == frozen(games[1].step(actions))


@pytest.mark.parametrize("actions", [[0, 1], np.zeros(3), [0, -1, 0], [0, 0, N_ACTIONS], None, [[0], [0], [0]]])
def test_what_are_no_actions_are_refused_and_change_nothing(actions: Any) -> None:
    games = [CitadelsVectorEnv(3) for _ in range(2)]
    for envs in games:
        envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"actions must be 3 whole numbers|game \d: '?(-1|1353)'? is not a legal answer"):
        games[0].step(actions)
    good = games[0].action_masks().argmax(1)
    assert frozen(games[0].step(good)) == frozen(games[1].step(good))


def test_a_game_must_be_reset_before_the_first_step_and_after_the_end() -> None:
    env, envs = CitadelsEnv(rules=SHORT), CitadelsVectorEnv(2, rules=SHORT, autoreset_mode="DISABLED")
    with pytest.raises(ResetNeeded, match="before the first step"):
        env.step(0)
    with pytest.raises(ResetNeeded, match="before the first step"):
        envs.step(np.zeros(2, int))
    with pytest.raises(ResetNeeded, match="reset_mask"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    play(env, 0)
    with pytest.raises(ResetNeeded, match="over"):
        env.step(0)
    envs.reset(seed=0)
    ended = np.zeros(2, bool)
    while not ended.any():
        ended = envs.step(envs.action_masks().argmax(1))[2]
    with pytest.raises(ResetNeeded, match=f"game {int(ended.argmax())} is over"):
        envs.step(envs.action_masks().argmax(1))


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "seven"])
def test_impossible_seeds_are_refused(seed: Any) -> None:
    for env in (CitadelsEnv(), CitadelsVectorEnv(2)):
        with pytest.raises(ValueError, match=f"a seed must .*, not {seed!r}"):
            env.reset(seed=seed)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=f"a seed must .*, not {seed!r}"):
        CitadelsVectorEnv(2).reset(seed=[1, seed])
    with pytest.raises(ValueError, match="a seed must be"):
        CitadelsVectorEnv(2).reset(seed=2**64 - 1)
    with pytest.raises(ValueError, match="2 games, but 3 seeds"):
        CitadelsVectorEnv(2).reset(seed=[1, 2, 3])


@pytest.mark.parametrize("mask", [[True, False], np.array([1, 0]), np.array([True]), np.array([False, False])])
def test_impossible_reset_masks_are_refused(mask: Any) -> None:
    envs = CitadelsVectorEnv(2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="reset_mask"):
        envs.reset(options={"reset_mask": mask})


# --- copies ----------------------------------------------------------------------


@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_in_mid_game_go_on_alike_and_apart(how: Callable[[Any], Any]) -> None:
    for steps in (0, 1, 20):
        env = CitadelsEnv(opponents={"expert": 1, "random": 1}, mask_in="both")
        play(env, 8, limit=steps)
        if steps == 0:
            env.reset(seed=8)
        twin, third = how(env), how(env)
        rest = play(env, None, dealt=True)
        after = play(env, None)
        assert play(twin, None, dealt=True) == rest
        assert play(twin, None) == after
        assert play(third, None, dealt=True) == rest


@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_of_many_games_go_on_alike(how: Callable[[Any], Any]) -> None:
    envs = CitadelsVectorEnv(5, rules=SHORT)
    envs.reset(seed=1)
    for _ in range(15):
        envs.step(envs.action_masks().argmax(1))
    twin = how(envs)
    for _ in range(30):
        actions = envs.action_masks().argmax(1)
        assert frozen(envs.step(actions)) == frozen(twin.step(actions))


# --- the page --------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_of_the_page_on_environments_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(EXAMPLES[number], f"docs/environments.md example {number}", "exec"), {"__name__": "__main__"})
    learned = re.search(r"([\d.]+) untrained, ([\d.]+) trained", capsys.readouterr().out)
    assert bool(learned) == ("SeatedBatch" in EXAMPLES[number])
    if learned:
        assert len(EXAMPLES[number].splitlines()) <= 60
        assert float(learned.group(1)) < 0.4 and float(learned.group(2)) > 0.6


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 4


# --- images, and attributes of single games ---------------------------------------


def test_images_show_the_text_of_the_game() -> None:
    one = gymnasium.make(ID, render_mode="rgb_array", seat=0)
    one.reset(seed=4)
    image = one.render()
    assert (image.shape, image.dtype) == ((720, 1280, 3), np.uint8)
    assert (image == picture.of_text(str(one.unwrapped.game))).all()
    assert (one.render() == image).all()
    before = str(one.unwrapped.game)
    one.step(int(np.flatnonzero(one.unwrapped.action_masks())[0]))
    assert str(one.unwrapped.game) != before
    assert (one.render() != image).any()
    envs = gymnasium.make_vec(ID, num_envs=2, render_mode="rgb_array", seat=0)
    envs.reset(seed=4)
    images = envs.render()
    assert len(images) == 2
    assert (images[0] == image).all()
    assert (images[1] != image).any()


@pytest.mark.parametrize("players", [2, 8])
def test_an_image_has_room_for_any_game(players: int) -> None:
    rules = GERMAN.with_(players=players, add_districts="all")
    game, rng = Game(rules, 3), np.random.default_rng(3)
    while not game.over:
        image = picture.of_text(str(game))
        edge = np.concatenate([image[-8:].reshape(-1, 3), image[:, -8:].reshape(-1, 3)])
        assert (edge == picture.PAPER).all()  # nothing runs over the edge
        assert (image < 100).any()
        for _ in range(20):
            if not game.over:
                game.play(int(rng.choice(game.legal_indices())))
    crowded = "\n".join(["Player 0: 3 gold", *(f"    hand: {', '.join(['School of Magic'] * 60)}" for _ in range(3))])
    assert (picture.of_text(crowded)[-8:] == picture.PAPER).all()


def test_gymnasiums_recorder_of_frames_takes_the_images() -> None:
    env = RenderCollection(gymnasium.make(ID, render_mode="rgb_array"))
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.unwrapped.action_masks())[0]))
    frames = env.render()
    assert [frame.shape for frame in frames] == [(720, 1280, 3)] * 2


def pair(**options: Any) -> tuple[Any, Any]:
    """Our vector environment and Gymnasium's own, with the same games under way."""
    ours = gymnasium.make_vec(ID, num_envs=3, opponents="random", **options)
    theirs = gymnasium.make_vec(ID, num_envs=3, opponents="random", vectorization_mode="sync", **options)
    for envs in (ours, theirs):
        rng = np.random.default_rng(0)
        observations, _ = envs.reset(seed=5)
        for _ in range(30):
            observations, *_ = envs.step(random_actions(observations["action_mask"], rng))
    return ours, theirs


def test_attributes_and_methods_of_single_games_are_those_of_gymnasiums_vector_environment() -> None:
    ours, theirs = pair(render_mode="ansi")
    for name in OF_EACH:
        for one, other in ((ours.call(name), theirs.call(name)), (ours.get_attr(name), theirs.get_attr(name))):
            assert type(one) is tuple
            assert len(one) == 3
            if name == "action_masks":
                assert [mask.dtype for mask in one] == [np.bool_] * 3
                assert all((a == b).all() for a, b in zip(one, other, strict=True))
                assert all(a.any() for a in one)
            elif name == "game":
                assert list(map(str, one)) == list(map(str, other))
            else:
                assert one == other
    assert ours.autoreset_mode == theirs.autoreset_mode == ours.metadata["autoreset_mode"]


def test_masks_of_single_games_are_the_callers_own() -> None:
    envs = gymnasium.make_vec(ID, num_envs=2, opponents="random", copy=False)
    envs.reset(seed=0)
    masks = envs.call("action_masks")
    kept = [mask.copy() for mask in masks]
    masks[0][:] = True
    assert (envs.call("action_masks")[0] == kept[0]).all()
    envs.step(np.array([mask.argmax() for mask in kept]))
    assert (masks[1] == kept[1]).all()


def test_the_render_mode_is_set_as_in_gymnasiums_vector_environment() -> None:
    ours = CitadelsVectorEnv(3, render_mode="ansi")
    theirs = SyncVectorEnv([lambda: CitadelsEnv(render_mode="ansi")] * 3)  # the wrappers of `make` refuse it
    for envs in (ours, theirs):
        envs.reset(seed=5)
    for values in (["rgb_array"] * 3, "ansi", (None, None, None), "rgb_array"):
        ours.set_attr("render_mode", values)
        theirs.set_attr("render_mode", values)
        assert ours.get_attr("render_mode") == theirs.get_attr("render_mode")
    assert all((a == b).all() for a, b in zip(ours.call("render"), theirs.call("render"), strict=True))


@pytest.mark.parametrize("name", ["seat", "game", "opponents", "rules", "level", "action_masks"])
def test_what_cannot_be_set_is_refused(name: str) -> None:
    envs = gymnasium.make_vec(ID, num_envs=2)
    with pytest.raises(AttributeError, match=f"'{name}' cannot be set"):
        envs.set_attr(name, 1)
    assert not hasattr(envs, "level")


@pytest.mark.parametrize("values", [["ansi"], ["ansi", None], ["ansi", "rgb_array"], "human", [1, 1], ()])
def test_impossible_render_modes_are_refused_and_change_nothing(values: Any) -> None:
    envs = gymnasium.make_vec(ID, num_envs=2, render_mode="ansi")
    with pytest.raises(ValueError, match=r"render_mode must be one of|2 games, but"):
        envs.set_attr("render_mode", values)
    assert envs.get_attr("render_mode") == ("ansi", "ansi")


@pytest.mark.parametrize("name", ["step", "reset", "close", "levels", "_batch"])
def test_what_single_games_do_not_have_is_named(name: str) -> None:
    envs = gymnasium.make_vec(ID, num_envs=2)
    for call in (envs.call, envs.get_attr):
        with pytest.raises(AttributeError, match=f"no '{name}' of single games; there are action_masks"):
            call(name)
    with pytest.raises(TypeError, match="no arguments"):
        envs.call("action_masks", 1)
