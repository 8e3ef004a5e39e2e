"""RLlib's callbacks on the fast path: which are called, when, with what; and that none is silently left out."""

import pickle

import numpy as np
import pytest

ray = pytest.importorskip("ray")
torch = pytest.importorskip("torch")

from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.callbacks.utils import _make_multi_callbacks

from citadels_env import Game
from citadels_experiments.learning import runner as runners
from citadels_experiments.learning.callbacks import NOT_CALLED, GameEpisode
from citadels_experiments.learning.fast import fast_ppo
from citadels_experiments.learning.games import LEARNER
from citadels_experiments.learning.runner import BatchedEnvRunner, Fragment

SHORT = {"rules": [{"players": 3, "max_rounds": 3}], "stagger": 20}  # games of about fifty answers


def config_of(games=SHORT, **settings):
    small = {"num_games": 8, "hidden": (16,), "train_batch_size_per_learner": 400, "minibatch_size": 200, "num_epochs": 1}
    return fast_ppo(games, **{**small, **settings}).debugging(seed=1, log_level="ERROR")


def runner_of(config):
    torch.manual_seed(0)
    return BatchedEnvRunner(config=config, worker_index=0)


class Noted(RLlibCallback):
    """Notes the arguments of everything that is called."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def on_episode_start(self, **arguments):
        assert not arguments["episode"].is_done
        self.calls.append(("start", arguments))
        arguments["episode"].custom_data["started"] = len(self.calls)

    def on_episode_end(self, *, episode, metrics_logger, **arguments):
        assert episode.is_done
        self.calls.append(("end", {"episode": episode, **arguments}))
        metrics_logger.log_value("best_score", max(episode.scores.values()), reduce="max")

    def on_sample_end(self, **arguments):
        self.calls.append(("sample", arguments))


@pytest.fixture
def build(ray_running):
    """Algorithms of configurations, stopped at the end."""
    built = []

    def make_one(config):
        built.append(config.build_algo())
        return built[-1]

    yield make_one
    for algorithm in built:
        algorithm.stop()


def test_every_game_begins_and_ends_with_its_callback_and_the_same_episode():
    runner = runner_of(config_of().callbacks(Noted))
    for _ in range(4):
        runner.sample()
    calls = runner.callbacks.objects[0].calls
    kinds = [kind for kind, _ in calls]
    ended = int(runner.metrics.peek()["num_episodes"])
    assert kinds.count("sample") == 4 and kinds.count("end") == ended > 10
    assert kinds.count("start") == 8 + ended and kinds[:8] == ["start"] * 8
    now = {}
    for kind, arguments in calls:
        if kind != "sample":
            episode, place = arguments["episode"], arguments["env_index"]
            assert arguments["env_runner"] is runner and arguments["rl_module"] is runner.module
            assert arguments["env"] is runner.collector.batch and episode.env_index == place
            assert (now.get(place) is episode) == (kind == "end")
            assert "started" in episode.custom_data
            now[place] = None if kind == "end" else episode
    assert len({arguments["episode"].id_ for kind, arguments in calls if kind == "start"}) == 8 + ended
    samples = [arguments["samples"] for kind, arguments in calls if kind == "sample"]
    assert all(len(sample) == 1 and isinstance(sample[0], Fragment) for sample in samples)


def test_lengths_returns_and_custom_metrics_are_those_of_the_games():
    runner = runner_of(config_of({**SHORT, "rewards": "score"}).callbacks(Noted))
    for _ in range(4):
        runner.sample()
    ended = [arguments["episode"] for kind, arguments in runner.callbacks.objects[0].calls if kind == "end"]
    metrics = runner.metrics.peek()
    assert len(ended) < 100  # all in the window of the means
    assert np.mean([len(episode) for episode in ended]) == pytest.approx(metrics["episode_len_mean"])
    assert [episode.env_steps() for episode in ended] == [len(episode) for episode in ended]
    assert np.mean([episode.get_return() for episode in ended]) == pytest.approx(metrics["episode_return_mean"], abs=1e-5)
    of_module = np.mean([episode.module_returns[LEARNER] for episode in ended])
    assert of_module == pytest.approx(metrics["module_episode_returns_mean"][LEARNER], abs=1e-5)
    assert np.mean([episode.rounds for episode in ended]) == pytest.approx(metrics["rounds_mean"])
    assert metrics["best_score"] == max(max(episode.scores.values()) for episode in ended)
    assert all(episode.rewards == pytest.approx(episode.rewards) and set(episode.rewards) == episode.agent_ids for episode in ended)
    assert all(episode.is_truncated and not episode.is_terminated for episode in ended)  # after three rounds


def test_rules_and_seed_of_an_episode_deal_its_game():
    found = []

    def compare(*, episode, env, env_index, **_):
        there = Game.of_state(episode.rules, env.states[env_index : env_index + 1])
        found.append(str(Game(episode.rules, episode.seed)) == str(there) and there.legal() == Game(episode.rules, episode.seed).legal())

    games = {"rules": [{"players": 3, "max_rounds": 3}, {"players": 4, "max_rounds": 3}], "stagger": 0}
    runner = runner_of(config_of(games).callbacks(on_episode_start=compare))
    runner.sample()
    assert len(found) > 8 and all(found)


def test_an_episode_says_who_sits_where():
    ended = []
    games = {**SHORT, "opponents": {"self": 1, "random": 1}}
    runner = runner_of(config_of(games).callbacks(on_episode_end=lambda *, episode, **_: ended.append(episode)))
    for _ in range(4):
        runner.sample()
    seats = {f"player_{seat}" for seat in range(3)}
    assert any("random" in episode.seating.values() for episode in ended)
    for episode in ended:
        assert set(episode.seating) == set(episode.rewards) == set(episode.scores) == seats
        assert episode.agent_ids == {agent for agent, name in episode.seating.items() if name == LEARNER}
        for agent in seats:
            assert episode.module_for(agent) == (None if episode.seating[agent] == "random" else LEARNER)
        assert episode.get_return() == pytest.approx(sum(episode.rewards[agent] for agent in episode.agent_ids))


def test_an_episode_says_what_it_does_not_know():
    seen = []
    runner = runner_of(config_of().callbacks(on_episode_start=lambda *, episode, **_: seen.append(episode)))
    runner.sample()
    assert seen[-1].get_return() == 0 and seen[-1].rewards == {}
    with pytest.raises(AttributeError, match=r"an episode of the fast path has no get_observations: it knows the game as a whole"):
        seen[-1].get_observations()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = seen[-1].nonsense


def with_class(name, body):
    return config_of().callbacks(type("Mine", (RLlibCallback,), {name: body}))


def with_function(name, body):
    return config_of().callbacks(**{name: body})


def with_several(name, body):
    return config_of().callbacks([Noted, type("Mine", (RLlibCallback,), {name: body})])


def with_container(name, body):
    return config_of().callbacks(_make_multi_callbacks([Noted, type("Mine", (RLlibCallback,), {name: body})]))


@pytest.mark.parametrize("given", [with_class, with_several, with_container])
@pytest.mark.parametrize("name", NOT_CALLED)
def test_a_callback_that_would_not_be_called_is_refused_by_name(given, name):
    with pytest.raises(ValueError, match=rf"callbacks that BatchedEnvRunner does not call: {name} \("):
        runner_of(given(name, lambda *args, **kwargs: None))


@pytest.mark.parametrize("name", ["on_episode_created", "on_episode_step", "on_environment_created"])
def test_so_is_a_function(name):
    with pytest.raises(ValueError, match=rf"callbacks that BatchedEnvRunner does not call: {name} \(.*It calls on_episode_start"):
        runner_of(with_function(name, lambda **_: None))


def test_all_that_are_not_called_are_named_at_once_when_the_algorithm_is_built(build):
    config = config_of().callbacks(on_episode_step=print, on_episode_created=[print], on_episode_end=print)
    with pytest.raises(ValueError, match=r"does not call: on_episode_created \(.*\); on_episode_step \("):
        build(config)


def test_they_are_named_before_a_remote_runner_is_started():
    config = config_of().env_runners(num_env_runners=2).callbacks(on_episode_step=print)
    with pytest.raises(ValueError, match=r"does not call: on_episode_step \("):
        config.build_algo()
    config.callbacks(on_episode_step=None)
    config.validate()


@pytest.mark.parametrize("given", [with_class, with_function, with_several, with_container])
def test_classes_and_functions_are_called_alike(given):
    ended = []
    runner = runner_of(given("on_episode_end", lambda *_, episode, **__: ended.append(episode)))
    runner.sample()
    runner.sample()
    assert len(ended) == runner.metrics.peek()["num_episodes"] > 0


@pytest.mark.parametrize("given", [None, {"on_sample_end": lambda **_: None}, {"on_train_result": lambda **_: None}])
def test_no_episode_is_made_when_nobody_asks_for_one(monkeypatch, given):
    def forbidden(*_):
        raise AssertionError("an episode")

    monkeypatch.setattr(runners, "GameEpisode", forbidden)
    runner = runner_of(config_of().callbacks(**given) if given else config_of())
    runner.sample()
    runner.sample(num_episodes=4)
    runner.set_state(runner.get_state())


def test_callbacks_change_nothing_of_what_is_played():
    noted, plain = runner_of(config_of().callbacks(Noted)), runner_of(config_of())
    for _ in range(3):
        one, other = noted.sample()[0].columns[LEARNER], plain.sample()[0].columns[LEARNER]
        assert all(np.array_equal(one[name], other[name]) for name in other)


def test_whole_games_begin_and_end_with_their_callbacks_too():
    runner = runner_of(config_of().callbacks(Noted))
    runner.sample(num_episodes=9)
    calls = runner.callbacks.objects[0].calls
    assert [kind for kind, _ in calls] == ["start"] * 9 + ["end"] * 9 + ["sample"]
    started, ended = ([arguments["episode"] for kind, arguments in calls if kind == which] for which in ("start", "end"))
    assert set(map(id, started)) == set(map(id, ended))


def test_episodes_go_on_from_a_state_with_what_the_user_kept_in_them():
    first = runner_of(config_of().callbacks(Noted))
    first.sample()
    state = pickle.loads(pickle.dumps(first.get_state()))
    second = runner_of(config_of().callbacks(Noted))
    second.set_state(state)
    before = [(episode.id_, episode.custom_data) for episode in first.episodes]
    assert [(episode.id_, episode.custom_data) for episode in second.episodes] == before
    second.sample()
    kinds = [kind for kind, _ in second.callbacks.objects[0].calls]
    assert kinds.count("start") == kinds.count("end") > 0  # the running games began elsewhere
    ends = [arguments["episode"].id_ for kind, arguments in second.callbacks.objects[0].calls if kind == "end"]
    assert ends[0] in dict(before)


def test_games_of_a_state_without_episodes_get_some():
    first = runner_of(config_of())
    first.sample()
    second = runner_of(config_of().callbacks(Noted))
    second.set_state(first.get_state())
    assert len(second.episodes) == 8 and not second.callbacks.objects[0].calls
    assert all(isinstance(episode, GameEpisode) and len(episode) > 0 for episode in second.episodes)
    second.sample()
    assert ("end" in dict(second.callbacks.objects[0].calls)) == (second.metrics.peek()["num_episodes"] > 0)


def test_callbacks_of_the_algorithm_and_of_evaluation_are_called(build):
    called = []

    def note(name):
        return lambda **arguments: called.append((name, sorted(arguments)))

    names = ("on_algorithm_init", "on_train_result", "on_evaluate_start", "on_evaluate_end")
    config = config_of().callbacks(Noted, **{name: note(name) for name in names})
    config.evaluation(evaluation_interval=1, evaluation_duration=6, evaluation_duration_unit="episodes", evaluation_num_env_runners=0)
    algorithm = build(config)
    result = algorithm.train()
    assert [name for name, _ in called] == ["on_algorithm_init", "on_evaluate_start", "on_evaluate_end", "on_train_result"]
    result = algorithm.train()  # in which the first games end
    assert "result" in dict(called)["on_train_result"] and "evaluation_metrics" in dict(called)["on_evaluate_end"]
    assert result["env_runners"]["best_score"] > 0
    assert result["evaluation"]["env_runners"]["best_score"] > 0


@pytest.mark.slow
def test_remote_runners_call_them_and_their_metrics_arrive(build):
    def count(*, episode, metrics_logger, **_):
        metrics_logger.log_value("finished", 1, reduce="sum")
        metrics_logger.log_value("own_return", episode.module_returns[LEARNER])

    algorithm = build(config_of(runners=2).callbacks(on_episode_end=count))
    for _ in range(3):
        played = algorithm.train()["env_runners"]
    assert played["finished"] == played["num_episodes"] > 0
    assert 0 <= played["own_return"] <= 1
