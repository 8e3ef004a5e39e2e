"""RLlib's fast path: the batched runner, what it hands to the learner, and PPO on it as RLlib's users know it."""

import pickle
from threading import Thread

import numpy as np
import pytest

ray = pytest.importorskip("ray")
torch = pytest.importorskip("torch")

from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.core.columns import Columns
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES
from ray.rllib.evaluation.postprocessing import Postprocessing

from citadels_agents.networks import Network as PlayedNetwork
from citadels_agents.rollout import legal_lists, sample
from citadels_env import observation
from citadels_env.actions import N_ACTIONS
from citadels_experiments.learning import evaluation
from citadels_experiments.learning import runner as runners
from citadels_experiments.learning.fast import fast_ppo
from citadels_experiments.learning.games import Games
from citadels_experiments.learning.learner import minibatches
from citadels_experiments.learning.network import Network
from citadels_experiments.learning.runner import LEARNER, BatchedEnvRunner, Fragment, FragmentsToBatch
from citadels_experiments.learning.training import export_checkpoint

SHORT = {"rules": [{"players": 3, "max_rounds": 3}], "stagger": 20}  # games of about fifty answers
MIXED = {"rules": [{"players": n, "max_rounds": 3} for n in range(2, 9)], "stagger": 20}
PASTS = {**SHORT, "opponents": {"self": 1, "past": 3}}


def config_of(games=SHORT, **settings):
    small = {"num_games": 8, "hidden": (16,), "train_batch_size_per_learner": 400, "minibatch_size": 200, "num_epochs": 1}
    return fast_ppo(games, **{**small, **settings}).debugging(seed=1, log_level="ERROR")


def runner_of(games=SHORT, worker=0, **settings):
    torch.manual_seed(0)
    return BatchedEnvRunner(config=config_of(games, **settings), worker_index=worker)


def weights_of(module):
    return {name: value.copy() for name, value in module.get_state().items()}


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def prefer(module, action_seed):
    """Give a module strong preferences of its own."""
    with torch.no_grad():
        module.policy.bias.copy_(20 * torch.randn(N_ACTIONS, generator=torch.Generator().manual_seed(action_seed)))


@pytest.fixture
def build(ray_running):
    """Algorithms of configurations, stopped at the end."""
    built = []

    def make_one(config):
        built.append(config.build_algo())
        return built[-1]

    yield make_one
    for algorithm in built:
        Thread(target=algorithm.stop).start()  # which waits most of a second for a thread of its own


# --- the runner -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("games", [SHORT, MIXED, {**MIXED, "opponents": {"self": 1, "random": 1}}])
def test_the_rows_handed_over_are_those_of_the_collector(games):
    runner = runner_of(games)
    runner.make_env()
    twin = pickle.loads(pickle.dumps(runner.collector))
    for length in (50, 50, 7):
        (fragment,) = runner.sample(num_timesteps=8 * length)
        rows, _ = twin.collect([runners.policy_of(runner.module[LEARNER])], False, length)
        assert fragment.env_steps() == fragment.agent_steps() == 8 * length
        columns = fragment.columns[LEARNER]
        assert len(fragment) == len(columns["actions"]) == len(rows[0]["actions"]) > 0
        for name in ("observations", "actions", "log_probabilities", "advantages", "targets"):
            assert np.array_equal(columns[name], rows[0][name])
        assert np.array_equal(columns["legal"], legal_lists(rows[0]["masks"]))


def test_a_fragment_has_the_share_of_the_training_batch_that_the_games_of_a_runner_make():
    assert runner_of(train_batch_size_per_learner=400).sample()[0].env_steps() == 400
    assert runner_of(runners=2, worker=1, train_batch_size_per_learner=400).sample()[0].env_steps() == 200
    config = config_of().env_runners(rollout_fragment_length=3)
    assert BatchedEnvRunner(config=config, worker_index=0).sample()[0].env_steps() == 24
    assert runner_of().sample(num_timesteps=3)[0].env_steps() == 8  # one answer of every game at least


@pytest.mark.parametrize("rewards", ["win", "score"])
def test_the_metrics_of_a_fragment_are_those_of_its_games(rewards):
    runner = runner_of({**SHORT, "rewards": rewards})
    runner.make_env()
    twin = pickle.loads(pickle.dumps(runner.collector))
    policies = [runners.policy_of(runner.module[LEARNER])]
    lengths, returns, count = [], [], 0
    for _ in range(3):
        runner.sample()
        _, ended = twin.collect(policies, False, 50)
        lengths += list(ended["decisions"])
        returns += list(ended["rewards"][:, :3])
        count += len(ended)
    assert 5 < count < 100  # all in the window of the means
    metrics, returns = runner.metrics.peek(), np.array(returns)
    assert metrics["num_env_steps_sampled"] == metrics["num_env_steps_sampled_lifetime"] == 1200
    assert metrics["num_episodes"] == metrics["num_episodes_lifetime"] == count
    assert metrics["episode_len_mean"] == pytest.approx(np.mean(lengths))
    assert (metrics["episode_len_min"], metrics["episode_len_max"]) == (min(lengths), max(lengths))
    totals = returns.sum(axis=1)
    assert metrics["episode_return_mean"] == pytest.approx(totals.mean(), abs=1e-6)
    assert metrics["episode_return_min"] == pytest.approx(totals.min(), abs=1e-6)
    assert metrics["episode_return_max"] == pytest.approx(totals.max(), abs=1e-6)
    for seat in range(3):
        assert metrics["agent_episode_returns_mean"][f"player_{seat}"] == pytest.approx(returns[:, seat].mean(), abs=1e-6)
    assert metrics["module_episode_returns_mean"] == {LEARNER: pytest.approx(returns.mean(), abs=1e-6)}
    assert metrics["num_module_steps_sampled"] == {LEARNER: 1200}
    assert sum(metrics["num_agent_steps_sampled"].values()) == 1200
    assert set(metrics["num_agent_steps_sampled"]) == {"player_0", "player_1", "player_2"}
    assert metrics["sample"] > 0


def test_steps_and_returns_are_told_apart_by_agent_and_by_module():
    runner = runner_of({**MIXED, "opponents": {"self": 1, "past_0": 1, "heuristic": 1}}, past=1)
    for _ in range(3):
        runner.sample()
    metrics = runner.metrics.peek()
    modules, agents = metrics["num_module_steps_sampled"], metrics["num_agent_steps_sampled"]
    assert set(modules) == {LEARNER, "past_0"} and min(modules.values()) > 0
    assert set(agents) == {f"player_{seat}" for seat in range(8)}
    assert sum(modules.values()) == sum(agents.values()) == metrics["num_env_steps_sampled"] == 1200
    assert agents["player_0"] > agents["player_7"] > 0
    returns = metrics["module_episode_returns_mean"]
    assert set(returns) == {LEARNER, "past_0"} and all(0 <= value <= 1 for value in returns.values())
    assert 0 < metrics["episode_return_mean"] < 1  # the heuristic's share of the wins is nobody's return


@pytest.mark.parametrize(
    ("opponents", "agents"),
    [("heuristic", ["heuristic"]), (["random", "expert"], ["random", "expert"]), ({"self": 1, "random": 2}, ["random"])],
)
def test_agents_play_inside_and_only_the_learner_is_asked(opponents, agents):
    runner = runner_of({**SHORT, "opponents": opponents})
    (fragment,) = runner.sample()
    assert [agent.name for agent in runner.collector.batch.agents] == agents
    assert set(fragment.columns) == {LEARNER}
    assert runner.metrics.peek()["num_module_steps_sampled"] == {LEARNER: 400}


def test_a_named_module_plays_its_seats_and_is_not_trained():
    runner = runner_of({**SHORT, "opponents": "past_0"}, past=1)
    prefer(runner.module["past_0"], 3)
    runner.make_env()
    twin = pickle.loads(pickle.dumps(runner.collector))
    (fragment,) = runner.sample()
    assert set(fragment.columns) == {LEARNER}
    batch, asked = twin.batch, np.zeros(2, int)
    batch.observations()
    for _ in range(50):  # the same games by hand: its answers follow its own preferences
        seen, masks, who = batch.observations().copy(), batch.masks(), batch.asked
        asked += np.bincount(who, minlength=2)
        logits = np.zeros((8, N_ACTIONS), np.float32)
        for k, name in enumerate((LEARNER, "past_0")):
            logits[who == k] = runners.policy_of(runner.module[name])(seen[who == k], masks[who == k])[0]
        actions, ignored = np.zeros(8, np.int64), np.zeros(8, np.float32)
        sample(logits, masks.view(np.uint8), twin.rng, False, actions, ignored)
        batch.step(actions)
    assert runner.metrics.peek()["num_module_steps_sampled"] == {LEARNER: asked[0], "past_0": asked[1]}
    assert asked.min() > 50
    assert np.array_equal(batch.seeds, runner.collector.batch.seeds)


def test_every_module_to_be_trained_hands_over_its_own_decisions():
    config = config_of({**SHORT, "opponents": "past_0"}, past=1).multi_agent(policies_to_train=[LEARNER, "past_0"])
    (fragment,) = BatchedEnvRunner(config=config, worker_index=0).sample()
    assert set(fragment.columns) == {LEARNER, "past_0"}
    assert len(fragment.columns["past_0"]["actions"]) > len(fragment.columns[LEARNER]["actions"]) > 0
    config = config.copy(copy_frozen=False).multi_agent(policies_to_train=lambda module, batch: module == "past_0")
    assert set(BatchedEnvRunner(config=config, worker_index=0).sample()[0].columns) == {"past_0"}


def test_past_alone_means_that_all_others_are_past_versions_once_there_are_any():
    runner = runner_of({**SHORT, "opponents": "past"}, past=2, num_games=32)

    def asked():
        return runner.metrics.peek()["num_module_steps_sampled"]

    runner.sample()
    assert asked()["past_0"] == 0 < asked()[LEARNER]
    runner.set_past(1)
    for _ in range(30):
        runner.sample()
    assert asked()["past_0"] > asked()[LEARNER] / 2 > asked()["past_1"] == 0


def test_past_versions_take_part_in_equal_shares_from_the_next_games_on():
    runner = runner_of(PASTS, past=3, num_games=64)

    def seated():
        """How often each of learner, past_0, past_1, past_2 sits in a seat that is not the learner's own."""
        runner.make_env()
        games = runner.collector.batch.games
        codes = [code for game in games for seat, code in enumerate(game["seating"][:3]) if seat != game["own"]]
        return np.bincount(-1 - np.array(codes), minlength=4)

    assert seated().tolist() == [128, 0, 0, 0]  # none is there yet
    runner.set_past(1)
    counts = seated()
    assert counts[2:].sum() == 0 and 0.6 < counts[1] / 128 < 0.9
    runner.set_past(3)
    counts = seated()
    assert 0.1 < counts[0] / 128 < 0.4 and counts[1:].min() > 15
    # while games are played: those under way go on as they are
    runner.set_past(0)
    runner.sample(num_timesteps=64 * 100)
    assert (runner.collector.batch.games["seating"][:, :3] == -1).all()


def test_whole_games_are_played_exactly_as_many_as_asked_with_the_learner_in_each_seat_in_turn(monkeypatch):
    monkeypatch.setattr(runners, "AT_ONCE", 7)  # in several parts
    ended, original = [], evaluation.play_to_end

    def watched(*arguments, **named):
        ended.append(original(*arguments, **named))
        return ended[-1]

    monkeypatch.setattr(evaluation, "play_to_end", watched)
    runner = runner_of({**SHORT, "opponents": "random"})
    (fragment,) = runner.sample(num_episodes=16)
    games = np.concatenate(ended)
    assert len(games) == 16 and len(fragment) == 0
    assert games["own"].tolist() == [*([0, 1, 2] * 3)[:7], *([0, 1, 2] * 3)[:7], 0, 1]
    metrics = runner.metrics.peek()
    assert metrics["num_episodes"] == 16
    # only answers of modules are steps, as in a fragment
    assert metrics["num_module_steps_sampled"] == {LEARNER: fragment.env_steps()}
    assert metrics["num_env_steps_sampled"] == fragment.env_steps() < 0.6 * games["decisions"].sum()
    wins = games["rewards"][np.arange(16), games["own"]]
    assert metrics["module_episode_returns_mean"][LEARNER] == pytest.approx(wins.mean())
    assert runner.collector is None  # the games of fragments are left alone
    assert runner.sample(num_episodes=0)[0].env_steps() == 0


def test_without_exploring_the_best_legal_answer_is_given():
    for given, config in ((False, config_of()), (None, config_of().env_runners(explore=False))):
        runner = BatchedEnvRunner(config=config, worker_index=0)
        prefer(runner.module[LEARNER], 1)
        columns = runner.sample(explore=given)[0].columns[LEARNER]
        logits, _ = runners.policy_of(runner.module[LEARNER])(columns["observations"], None)
        legal = np.where(columns["legal"] >= 0, logits[np.arange(len(logits))[:, None], columns["legal"]], -np.inf)
        best = columns["legal"][np.arange(len(legal)), legal.argmax(axis=1)]
        assert np.array_equal(columns["actions"], best)
        explored = runner.sample(explore=True)[0].columns[LEARNER]
        assert len(explored["actions"]) > 300


def test_random_actions_do_not_ask_the_module():
    runner = runner_of()
    prefer(runner.module[LEARNER], 1)
    columns = runner.sample(random_actions=True)[0].columns[LEARNER]
    assert np.allclose(columns["log_probabilities"], -np.log((columns["legal"] >= 0).sum(axis=1)), atol=1e-5)


def test_new_games_are_dealt_only_when_asked_for():
    runner = runner_of({**SHORT, "stagger": 0})
    runner.sample(num_timesteps=80)
    first = runner.collector
    runner.sample(num_timesteps=80)
    assert runner.collector is first and first.batch.games["decisions"].min() == 20
    runner.sample(num_timesteps=80, force_reset=True)
    assert runner.collector is not first and runner.collector.batch.games["decisions"].max() == 10
    again = runner.collector
    runner._needs_initial_reset = True
    runner.sample(num_timesteps=80)
    assert runner.collector is not again and not runner._needs_initial_reset
    assert len({tuple(collector.batch.seeds) for collector in (first, again, runner.collector)}) == 3


def test_games_go_on_in_fragments_of_another_length():
    runner, other = runner_of(), runner_of(train_batch_size_per_learner=800, minibatch_size=100)
    runner.sample()
    other.set_state(runner.get_state())
    assert np.array_equal(other.collector.batch.seeds, runner.collector.batch.seeds)
    assert other.sample()[0].env_steps() == 800


def test_games_begin_at_different_stages():
    runner = runner_of({"players": 4}, num_games=32)
    runner.make_env()
    decisions = runner.collector.batch.games["decisions"]
    assert len(set(decisions)) > 20 and decisions.max() <= 200


def test_runners_play_different_games_and_the_same_seed_the_same():
    def dealt(worker, seed, evaluation=False, own=None):
        config = config_of(SHORT if own is None else {**SHORT, "seed": own}).debugging(seed=seed)
        config.in_evaluation = evaluation
        runner = BatchedEnvRunner(config=config, worker_index=worker)
        runner.make_env()
        return tuple(runner.collector.batch.seeds)

    different = [dealt(worker, 1) for worker in (0, 1, 2)] + [dealt(0, 2), dealt(0, 1, True), dealt(0, 1, own=7)]
    assert len({seed for seeds in different for seed in seeds}) == 6 * 8
    assert dealt(1, 1) == different[1] and dealt(0, 5, own=7) == different[5]
    assert dealt(0, None) != dealt(0, None)


def test_a_state_goes_on_identically_in_another_runner():
    runner, other = runner_of(PASTS, past=2), runner_of(PASTS, past=2)
    for name in (LEARNER, "past_0", "past_1"):
        prefer(runner.module[name], len(name))
    runner.set_past(2)
    runner.sample()
    state = pickle.loads(pickle.dumps(runner.get_state()))
    other.sample()
    other.set_state(state)
    assert other.past == 2 and other.num_env_steps_sampled_lifetime == 400
    assert all(same(runner.module[name].get_state(), other.module[name].get_state()) for name in runner.modules)
    for _ in range(2):
        one, two = (each.sample()[0].columns[LEARNER] for each in (runner, other))
        assert same(one, two)


@pytest.mark.parametrize(
    "other",
    [
        {"games": {**SHORT, "opponents": "random"}},
        {"games": {**SHORT, "rewards": "score"}},
        {"num_games": 4},
        {"worker": 1},
        {"lambda_": 0.5},
        {"past": 1},
    ],
)
def test_games_of_a_state_go_on_only_where_the_same_is_played(other):
    runner = runner_of()
    runner.sample()
    state = runner.get_state()
    taker = runner_of(**other)
    taker.set_state({**state, "rl_module": {LEARNER: state["rl_module"][LEARNER]}})
    assert taker.collector is None
    assert same(taker.module[LEARNER].get_state(), runner.module[LEARNER].get_state())
    assert taker.sample()[0].env_steps() == 400
    evaluation = runner_of()
    evaluation.config = evaluation.config.copy(copy_frozen=False)
    evaluation.config.in_evaluation = True
    evaluation.set_state(state)
    assert evaluation.collector is None


def test_parts_of_a_state_may_be_left_out():
    runner = runner_of()
    runner.sample()
    assert set(runner.get_state(components="rl_module")) == {"num_env_steps_sampled_lifetime", "past", "rl_module", "weights_seq_no"}
    assert "rl_module" not in runner.get_state(not_components="rl_module")
    before = weights_of(runner.module[LEARNER])
    runner.set_state({"num_env_steps_sampled_lifetime": 123.0})
    assert runner.num_env_steps_sampled_lifetime == 123
    assert same(weights_of(runner.module[LEARNER]), before)
    runner.make_env()  # the number is part of what seeds are made of


def test_older_weights_are_taken_over_too():
    runner, other = runner_of(), runner_of()
    prefer(other.module[LEARNER], 5)
    weights = {"rl_module": other.module.get_state()}
    runner.set_state({**runner.get_state(components="rl_module"), "weights_seq_no": 7})
    runner.set_state({**weights, "weights_seq_no": 3})
    assert same(runner.module[LEARNER].get_state(), other.module[LEARNER].get_state())
    assert runner.get_state()["weights_seq_no"] == 3


@pytest.mark.parametrize(("games", "rows"), [(SHORT, 3), (MIXED, 8), ({**SHORT, "compact": False}, 8)])
def test_the_spaces_hold_what_is_seen(games, rows):
    runner = runner_of(games)
    spaces = runner.get_spaces()
    seen, actions = spaces[LEARNER]
    assert seen["observation"].shape == (observation.size(rows),) and actions.n == N_ACTIONS
    row = runner.sample()[0].columns[LEARNER]["observations"][0]
    assert seen.contains({"observation": row, "action_mask": np.zeros(N_ACTIONS, np.int8)})
    assert set(spaces[INPUT_ENV_SINGLE_SPACES][0].spaces) == {f"player_{seat}" for seat in range(runner.games.players)}


def test_impossible_runners_are_refused():
    with pytest.raises(ValueError, match="there must be a module 'learner', not only main"):
        BatchedEnvRunner(config=config_of().multi_agent(policies=["main"]), worker_index=0)
    with pytest.raises(ValueError, match="'past' needs modules past_0"):
        runner_of(PASTS).sample()
    with pytest.raises(ValueError, match="no agent 'nobody'"):
        runner_of({**SHORT, "opponents": "nobody"}).sample()
    with pytest.raises(ValueError, match="there is no player"):
        runner_of({"player": 3})
    with pytest.raises(ValueError, match="hidden is a list of widths"):
        runner_of(hidden=("wide",))


def test_past_versions_are_in_the_order_of_their_numbers():
    runner = runner_of(PASTS, past=12)
    runner.set_past(3)
    shares = runner._opponents()
    assert [name for name, share in shares.items() if share] == ["self", "past_0", "past_1", "past_2"]
    assert list(shares)[-2:] == ["past_10", "past_11"]


def test_remote_runners_use_as_many_threads_as_they_have_processors(monkeypatch):
    threads = []
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    for cpus in (0, 0.5, 1, 3):
        BatchedEnvRunner(config=config_of().env_runners(num_cpus_per_env_runner=cpus), worker_index=1)
    runner_of()  # in the learning process they are the learner's business
    assert threads == [1, 1, 1, 3]


# --- what is handed to the learner ----------------------------------------------------------------------------------


def rows_of(count, widest=5, seed=0):
    """Made-up columns of a fragment; the observation says which row it is."""
    draw = np.random.default_rng(seed)
    return {
        "observations": np.arange(count, dtype=np.uint8)[:, None] + np.zeros((1, 3), np.uint8),
        "actions": draw.integers(0, N_ACTIONS, count),
        "log_probabilities": draw.normal(size=count).astype(np.float32),
        "advantages": draw.normal(3, 2, size=count).astype(np.float32),
        "targets": draw.normal(size=count).astype(np.float32),
        "legal": draw.integers(0, N_ACTIONS, (count, widest)).astype(np.int16),
    }


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
@pytest.mark.parametrize("counts", [{"learner": 100}, {"learner": 101, "other": 13}, {"learner": 5, "other": 1}, {"learner": 0}])
def test_slices_of_a_fragment_share_out_its_rows_exactly(shards, counts):
    fragment = Fragment({name: rows_of(count, seed=count) for name, count in counts.items()}, 10 * sum(counts.values()))
    cuts = [len(fragment) * k // shards for k in range(shards + 1)]
    parts = [fragment[cuts[k] : cuts[k + 1]] for k in range(shards)]
    for name, count in counts.items():
        for column in ("observations", "actions", "legal", "advantages"):
            together = np.concatenate([part.columns[name][column] for part in parts])
            assert np.array_equal(together, fragment.columns[name][column])
        lengths = [len(part.columns[name]["actions"]) for part in parts]
        assert sum(lengths) == count and max(lengths) - min(lengths) <= 2
    assert same(fragment.slice(slice(None), len_lookback_buffer=3).columns["learner"], fragment.columns["learner"])


def batch_of(fragments):
    return FragmentsToBatch(None, None)(rl_module=None, batch={}, episodes=fragments)


def test_fragments_become_one_batch_with_standardised_advantages():
    parts = [rows_of(40, 5, 1), rows_of(7, 9, 2), rows_of(20, 3, 3)]
    batch = batch_of([Fragment({LEARNER: part}, 50) for part in parts])[LEARNER]
    advantages = batch[Postprocessing.ADVANTAGES]
    assert advantages.mean().item() == pytest.approx(0, abs=1e-6) and advantages.std().item() == pytest.approx(1, abs=1e-5)
    given = np.concatenate([part["advantages"] for part in parts])
    assert np.corrcoef(given, advantages.numpy())[0, 1] == pytest.approx(1)
    for column, name in (
        (batch[Columns.OBS]["observation"], "observations"),
        (batch[Columns.ACTIONS], "actions"),
        (batch[Columns.ACTION_LOGP], "log_probabilities"),
        (batch[Postprocessing.VALUE_TARGETS], "targets"),
    ):
        assert np.array_equal(column.numpy(), np.concatenate([part[name] for part in parts]))
    legal = batch[Columns.OBS]["legal"].numpy()
    assert legal.shape == (67, 9)
    for start, part in zip((0, 40, 47), parts, strict=True):
        rows, width = part["legal"].shape
        assert np.array_equal(legal[start : start + rows, :width], part["legal"])
        assert (legal[start : start + rows, width:] == -1).all()


def test_modules_that_were_not_asked_and_single_rows_do_no_harm():
    fragments = [Fragment({LEARNER: rows_of(1), "other": rows_of(0)}, 5), Fragment({"other": rows_of(0)}, 5)]
    batch = batch_of(fragments)
    assert set(batch) == {LEARNER}
    assert batch[LEARNER][Postprocessing.ADVANTAGES].tolist() == [0.0]
    equal = {**rows_of(6), "advantages": np.full(6, 2.5, np.float32)}
    assert batch_of([Fragment({LEARNER: equal}, 6)])[LEARNER][Postprocessing.ADVANTAGES].abs().max() == 0


@pytest.mark.parametrize("size", [1, 10, 16, 33, 64, 200, None])
@pytest.mark.parametrize("epochs", [1, 3])
def test_minibatches_hold_every_row_once_an_epoch_and_differ_by_one_row_at_most(size, epochs):
    rows = batch_of([Fragment({LEARNER: rows_of(100), "other": rows_of(31)}, 131)])
    parts = list(minibatches(rows, epochs, size))
    each = len(parts) // epochs
    assert len(parts) == each * epochs and each == (max(1, round(100 / size)) if size else 1)
    orders = []
    for epoch in range(epochs):
        mine = [part.policy_batches for part in parts[epoch * each : (epoch + 1) * each]]
        for module, count in ((LEARNER, 100), ("other", 31)):
            seen = [part[module][Columns.OBS]["observation"][:, 0] for part in mine if module in part]
            assert sorted(torch.cat(seen).tolist()) == list(range(count))
            lengths = [len(part[module][Columns.ACTIONS]) if module in part else 0 for part in mine]
            assert max(lengths) - min(lengths) <= 1
            assert all(len(part[module][Columns.ACTIONS]) for part in mine if module in part)
        orders.append(tuple(torch.cat([part[LEARNER][Columns.OBS]["observation"][:, 0] for part in mine]).tolist()))
    assert len(set(orders)) == epochs
    # the columns of a row stay together
    row = parts[0].policy_batches[LEARNER]
    place = row[Columns.OBS]["observation"][:, 0].long()
    for name in (Columns.ACTIONS, Columns.ACTION_LOGP, Postprocessing.ADVANTAGES, Postprocessing.VALUE_TARGETS):
        assert torch.equal(row[name], rows[LEARNER][name][place])
    assert torch.equal(row[Columns.OBS]["legal"], rows[LEARNER][Columns.OBS]["legal"][place])


@pytest.mark.parametrize("total", [1, 4, 5, 6, 9])
def test_several_learners_get_exactly_the_number_of_minibatches_they_agreed_on(total):
    rows = batch_of([Fragment({LEARNER: rows_of(100)}, 100)])
    parts = list(minibatches(rows, 2, 25, total))
    assert len(parts) == total
    each = max(1, total // 2)
    first = torch.cat([part[LEARNER][Columns.OBS]["observation"][:, 0] for part in (one.policy_batches for one in parts[:each])])
    assert sorted(first.tolist()) == list(range(100))


def test_without_any_row_to_learn_from_the_error_says_why():
    with pytest.raises(ValueError, match="train_batch_size_per_learner is too small"):
        list(minibatches({}, 1, 10))


# --- the same choice everywhere -------------------------------------------------------------------------------------


@pytest.mark.parametrize("games", [{"players": 4}, MIXED])
def test_module_network_and_exported_file_make_the_same_choice_in_hundreds_of_positions(build, tmp_path, games):
    algorithm = build(config_of(games, hidden=(32, 16)))
    prefer(algorithm.get_module(LEARNER), 2)
    algorithm.learner_group._learner.module[LEARNER].unwrapped().load_state_dict(algorithm.get_module(LEARNER).state_dict())
    module = algorithm.get_module(LEARNER)
    network = Network(module.observation_space["observation"].shape[0], (32, 16))
    network.load_state_dict(module.state_dict())
    algorithm.save_to_path(str(tmp_path / "checkpoint"))
    played = PlayedNetwork.load(export_checkpoint(tmp_path / "checkpoint", tmp_path / "network.safetensors"))
    assert played.rules == Games.from_config(games).rules and played.hidden == (32, 16)
    batch = Games.from_config(games).batch(50, 1)
    chosen, compared = set(), 0
    for _ in range(16):
        seen, masks = batch.observations().copy(), batch.masks()
        tensors = {"observation": torch.from_numpy(seen), "action_mask": torch.from_numpy(masks.astype(np.int8))}
        with torch.no_grad():
            stock = module.forward_inference({Columns.OBS: tensors})[Columns.ACTION_DIST_INPUTS].argmax(dim=1).numpy()
            logits = [module.logits_and_values(tensors["observation"])[0].numpy(), network(tensors["observation"])[0].numpy()]
        for each in (*logits, played(seen, masks)[0]):
            assert np.array_equal(np.where(masks, each, -np.inf).argmax(axis=1), stock)
        batch.step(stock)
        compared += len(stock)
        chosen |= set(stock.tolist())
    assert compared == 800 and len(chosen) > 15


# --- as an algorithm ------------------------------------------------------------------------------------------------


def test_an_iteration_trains_and_reports_what_rllib_users_expect(build):
    algorithm = build(config_of())
    before = weights_of(algorithm.get_module(LEARNER))
    results = [algorithm.train() for _ in range(2)]
    played, learnt = results[1]["env_runners"], results[1]["learners"]
    assert played["num_env_steps_sampled"] == 400
    assert played["num_env_steps_sampled_lifetime"] == results[1]["num_env_steps_sampled_lifetime"] == 800
    assert played["num_module_steps_sampled_lifetime"] == {LEARNER: 800}
    assert sum(played["num_agent_steps_sampled_lifetime"].values()) == 800
    assert played["num_episodes_lifetime"] == results[0]["env_runners"].get("num_episodes", 0) + played["num_episodes"]
    assert played["episode_len_min"] <= played["episode_len_mean"] <= played["episode_len_max"]
    assert played["episode_return_min"] == played["episode_return_mean"] == played["episode_return_max"] == pytest.approx(1)
    assert played["module_episode_returns_mean"][LEARNER] == pytest.approx(1 / 3)
    assert sum(played["agent_episode_returns_mean"].values()) == pytest.approx(1)
    assert played["num_env_steps_sampled_lifetime_throughput"]["throughput_since_last_reduce"] > 0
    assert 350 < learnt[LEARNER]["num_module_steps_trained"] <= 400 + 8 * 3
    for name in ("policy_loss", "vf_loss", "entropy", "vf_explained_var", "mean_kl_loss", "total_loss"):
        assert np.isfinite(learnt[LEARNER][name])
    assert 0 < learnt[LEARNER]["entropy"] < np.log(N_ACTIONS)
    for timer in ("env_runner_sampling_timer", "learner_update_timer", "synch_weights", "training_iteration"):
        assert results[1]["timers"][timer] > 0
    after = algorithm.get_module(LEARNER).get_state()
    assert not any(np.array_equal(before[name], after[name]) for name in before)
    # what plays is what learned
    learner = algorithm.learner_group._learner.module[LEARNER].unwrapped().get_state()
    assert same(after, learner)


def test_every_decision_is_trained_on_once_sooner_or_later(build):
    algorithm = build(config_of())
    trained = sum(algorithm.train()["learners"][LEARNER]["num_module_steps_trained"] for _ in range(4))
    waiting = len(algorithm.env_runner.collector.waiting["actions"])
    assert trained + waiting == 1600 and waiting <= 8 * 3


@pytest.mark.parametrize("games", [MIXED, {**MIXED, "opponents": {"self": 1, "heuristic": 1}}, {**SHORT, "opponents": ["random", "self"]}])
def test_games_of_two_to_eight_players_and_any_opponents_are_trained_on(build, games):
    algorithm = build(config_of(games))
    before = weights_of(algorithm.get_module(LEARNER))
    assert algorithm.train()["env_runners"]["num_env_steps_sampled"] == 400
    assert not same(before, weights_of(algorithm.get_module(LEARNER)))


def test_frozen_modules_stay_frozen_and_trained_ones_move(build):
    games = {**SHORT, "opponents": {"self": 1, "past_0": 1, "past_1": 1}}
    config = config_of(games, past=2).multi_agent(policies_to_train=[LEARNER, "past_1"])
    algorithm = build(config)
    before = {name: weights_of(algorithm.get_module(name)) for name in (LEARNER, "past_0", "past_1")}
    for _ in range(2):
        result = algorithm.train()
    assert ["policy_loss" in result["learners"][name] for name in (LEARNER, "past_0", "past_1")] == [True, False, True]
    for name, moves in ((LEARNER, True), ("past_0", False), ("past_1", True)):
        assert same(before[name], weights_of(algorithm.get_module(name))) != moves
        learner = algorithm.learner_group._learner.module[name].unwrapped().get_state()
        assert same(learner, algorithm.get_module(name).get_state())


def test_a_module_that_is_seldom_asked_does_not_break_its_weights(build):
    games = {**SHORT, "opponents": {"self": 400, "past_0": 1}}
    config = config_of(games, past=1, minibatch_size=16).multi_agent(policies_to_train=[LEARNER, "past_0"])
    algorithm = build(config)
    for _ in range(3):
        algorithm.train()
    for name in (LEARNER, "past_0"):
        assert all(np.isfinite(value).all() for value in algorithm.get_module(name).get_state().values())


def test_batches_too_small_to_learn_from_are_refused_with_the_reason(build):
    algorithm = build(config_of(train_batch_size_per_learner=8, minibatch_size=8))
    with pytest.raises(Exception, match="train_batch_size_per_learner is too small"):
        algorithm.train()


def evaluating(config, remote=0, duration=9, unit="episodes", **settings):
    return config.evaluation(
        evaluation_interval=1,
        evaluation_num_env_runners=remote,
        evaluation_duration=duration,
        evaluation_duration_unit=unit,
        evaluation_config={"explore": False, **settings},
    )


def test_evaluation_plays_exactly_so_many_games_against_its_own_opponents(build):
    algorithm = build(evaluating(config_of(), env_config={**SHORT, "opponents": "random"}))
    first = algorithm.evaluate()["env_runners"]
    assert first["num_episodes"] == 9
    assert 0 <= first["module_episode_returns_mean"][LEARNER] <= 1
    assert first["episode_return_mean"] == pytest.approx(first["module_episode_returns_mean"][LEARNER])
    assert set(first["num_module_steps_sampled"]) == {LEARNER}
    evaluator = algorithm.eval_env_runner_group.local_env_runner
    assert evaluator.games.opponents == "random" and evaluator.config.in_evaluation and not evaluator.config.explore
    result = algorithm.train()
    assert result["evaluation"]["env_runners"]["num_episodes"] == 9
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 400  # games of evaluation are not counted
    assert same(weights_of(evaluator.module[LEARNER]), weights_of(algorithm.get_module(LEARNER)))


def test_evaluation_is_greedy_unless_it_is_to_explore(build, monkeypatch):
    greedy, original = [], evaluation.play_to_end

    def watched(*arguments, **named):
        greedy.append(named["greedy"])
        return original(*arguments, **named)

    monkeypatch.setattr(evaluation, "play_to_end", watched)
    build(evaluating(config_of())).evaluate()
    build(evaluating(config_of(), explore=True)).evaluate()
    assert greedy == [True, False]


def test_evaluation_may_be_measured_in_steps(build):
    result = build(evaluating(config_of(), duration=160, unit="timesteps")).evaluate()["env_runners"]
    assert result["num_env_steps_sampled"] == 160


# --- checkpoints ----------------------------------------------------------------------------------------------------


def test_a_checkpoint_restored_in_place_reaches_learner_and_runner_and_the_games_go_on(build, tmp_path):
    algorithm = build(config_of(PASTS, past=1))
    algorithm.train()
    algorithm.save_to_path(str(tmp_path))
    kept, rng = weights_of(algorithm.get_module(LEARNER)), torch.get_rng_state()
    results = [algorithm.train() for _ in range(2)]
    last = weights_of(algorithm.get_module(LEARNER))
    assert not same(kept, last)
    algorithm.restore_from_path(str(tmp_path))  # an older one
    assert same(kept, algorithm.get_module(LEARNER).get_state())
    assert same(kept, algorithm.learner_group._learner.module[LEARNER].unwrapped().get_state())
    assert algorithm.env_runner.num_env_steps_sampled_lifetime == 400
    torch.set_rng_state(rng)
    again = [algorithm.train() for _ in range(2)]
    assert same(last, weights_of(algorithm.get_module(LEARNER)))
    for one, other in zip(results, again, strict=True):
        for name in ("num_env_steps_sampled_lifetime", "num_episodes"):
            assert one["env_runners"].get(name) == other["env_runners"].get(name)
    assert again[1]["env_runners"]["num_env_steps_sampled_lifetime"] == 1200


def test_an_algorithm_made_from_a_checkpoint_goes_on_as_the_one_that_wrote_it(build, tmp_path):
    algorithm = build(config_of(MIXED))
    algorithm.train()
    algorithm.save_to_path(str(tmp_path))
    rng = torch.get_rng_state()
    algorithm.train()
    last = weights_of(algorithm.get_module(LEARNER))
    algorithm.stop()
    other = Algorithm.from_checkpoint(str(tmp_path))
    torch.set_rng_state(rng)
    result = other.train()
    assert same(last, weights_of(other.get_module(LEARNER)))
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 800 and result["training_iteration"] == 2
    other.stop()


def test_a_checkpoint_restored_for_other_games_plays_those(build, tmp_path):
    algorithm = build(config_of())
    algorithm.train()
    algorithm.save_to_path(str(tmp_path))
    other = build(config_of({**SHORT, "opponents": "heuristic"}, num_games=4))
    other.restore_from_path(str(tmp_path))
    assert same(weights_of(algorithm.get_module(LEARNER)), weights_of(other.get_module(LEARNER)))
    other.train()
    batch = other.env_runner.collector.batch
    assert batch.num_games == 4 and [agent.name for agent in batch.agents] == ["heuristic"]


# --- on several processes -------------------------------------------------------------------------------------------


def each_runner(algorithm, function):
    return algorithm.env_runner_group.foreach_env_runner(function, local_env_runner=False)


@pytest.mark.slow
def test_remote_runners_play_different_games_with_the_learners_weights(build):
    algorithm = build(config_of(runners=2))
    before = weights_of(algorithm.get_module(LEARNER))
    result = algorithm.train()["env_runners"]
    assert result["num_env_steps_sampled"] == 400 and result["num_module_steps_sampled"] == {LEARNER: 400}
    algorithm.train()
    seeds = each_runner(algorithm, lambda runner: runner.collector.batch.seeds.tolist())
    assert len(set(seeds[0]) | set(seeds[1])) == 16
    assert each_runner(algorithm, lambda runner: torch.get_num_threads()) == [1, 1]
    learner = algorithm.learner_group._learner.module[LEARNER].unwrapped().get_state()
    assert not same(before, learner)
    for weights in each_runner(algorithm, lambda runner: runner.module["learner"].get_state()):
        assert same(weights, learner)


@pytest.mark.slow
def test_a_runner_that_was_killed_comes_back_with_weights_and_past_versions(build):
    config = config_of(PASTS, past=2, runners=2)
    assert config.restart_failed_env_runners
    algorithm = build(config)
    algorithm.train()

    frozen = {name: 0 * value + 3 for name, value in algorithm.get_module("past_0").get_state().items()}
    algorithm.set_state({"learner_group": {"learner": {"rl_module": {"past_0": frozen}}}})
    algorithm.env_runner_group.foreach_env_runner(lambda runner: (runner.module["past_0"].set_state(frozen), runner.set_past(1)))
    killed = algorithm.env_runner_group._worker_manager.actors()[1]
    ray.kill(killed, no_restart=False)
    for _ in range(8):
        result = algorithm.train()
        if algorithm.env_runner_group.num_healthy_remote_workers() == 2 and result["env_runners"]["num_env_steps_sampled"] >= 400:
            break
    assert algorithm.env_runner_group.num_healthy_remote_workers() == 2
    algorithm.train()
    learner = algorithm.learner_group._learner.module[LEARNER].unwrapped().get_state()
    for state in each_runner(algorithm, lambda runner: runner.module.get_state()):
        assert same(state[LEARNER], learner) and same(state["past_0"], frozen)
    assert each_runner(algorithm, lambda runner: runner.past) == [1, 1]
    seeds = each_runner(algorithm, lambda runner: runner.collector.batch.seeds.tolist())
    assert len(set(seeds[0]) | set(seeds[1])) == 16


@pytest.mark.slow
def test_remote_evaluation_plays_exactly_so_many_games(build):
    algorithm = build(evaluating(config_of(), remote=1, env_config={**SHORT, "opponents": "random"}))
    result = algorithm.train()
    assert result["evaluation"]["env_runners"]["num_episodes"] == 9
    evaluators = algorithm.eval_env_runner_group.foreach_env_runner(
        lambda runner: (runner.games.opponents, runner.module["learner"].get_state()), local_env_runner=False
    )
    assert [opponents for opponents, _ in evaluators] == ["random"]
    assert algorithm.evaluate()["env_runners"]["num_episodes"] == 9


@pytest.mark.slow
@pytest.mark.parametrize("learners", [1, 2])
def test_remote_learners_share_the_rows(build, tmp_path, learners):
    config = config_of(train_batch_size_per_learner=400 // learners, minibatch_size=100).learners(num_learners=learners)
    algorithm = build(config)
    before = weights_of(algorithm.get_module(LEARNER))
    result = algorithm.train()
    assert result["env_runners"]["num_env_steps_sampled"] == 400
    trained = result["learners"][LEARNER]["num_module_steps_trained"]
    assert 400 - 8 * 3 <= trained <= 400
    after = weights_of(algorithm.get_module(LEARNER))
    assert not same(before, after)
    algorithm.train()
    algorithm.save_to_path(str(tmp_path))
    last = weights_of(algorithm.get_module(LEARNER))
    algorithm.train()
    algorithm.restore_from_path(str(tmp_path))
    assert same(last, weights_of(algorithm.get_module(LEARNER)))


@pytest.mark.slow
def test_a_checkpoint_of_a_local_runner_is_restored_into_remote_ones(build, tmp_path):
    local = build(config_of())
    local.train()
    local.save_to_path(str(tmp_path))
    algorithm = build(config_of(runners=2))
    algorithm.restore_from_path(str(tmp_path))
    assert same(weights_of(local.get_module(LEARNER)), algorithm.learner_group._learner.module[LEARNER].unwrapped().get_state())
    assert algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"] == 800
    for weights in each_runner(algorithm, lambda runner: runner.module["learner"].get_state()):
        assert same(weights, algorithm.learner_group._learner.module[LEARNER].unwrapped().get_state())
    seeds = each_runner(algorithm, lambda runner: runner.collector.batch.seeds.tolist())
    assert len(set(seeds[0]) | set(seeds[1])) == 16


@pytest.mark.slow
def test_tune_runs_the_configuration(ray_running, tmp_path):
    from ray import tune
    from ray.rllib.algorithms.ppo import PPO

    tuner = tune.Tuner(
        PPO,
        param_space=config_of(),
        run_config=tune.RunConfig(
            stop={"training_iteration": 1},
            storage_path=str(tmp_path),
            verbose=0,
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=True),
        ),
    )
    (result,) = tuner.fit()
    assert result.error is None
    assert result.metrics["env_runners"]["num_env_steps_sampled"] == 400
    restored = Algorithm.from_checkpoint(result.checkpoint.path)
    assert restored.get_module(LEARNER) is not None
    restored.stop()


def test_remote_runners_are_given_the_time_to_compile_the_rules():
    assert fast_ppo(SHORT, runners=2).sample_timeout_s >= 600
