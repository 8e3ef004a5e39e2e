"""RLlib's environment runner on batched games: about a hundred at once, one forward pass for all seats that are asked."""

import math
import pickle
import time
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import ray
import torch
from ray import cloudpickle
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core import COMPONENT_RL_MODULE
from ray.rllib.core.columns import Columns
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.metrics import (
    EPISODE_AGENT_RETURN_MEAN,
    EPISODE_LEN_MAX,
    EPISODE_LEN_MEAN,
    EPISODE_LEN_MIN,
    EPISODE_MODULE_RETURN_MEAN,
    EPISODE_RETURN_MAX,
    EPISODE_RETURN_MEAN,
    EPISODE_RETURN_MIN,
    NUM_AGENT_STEPS_SAMPLED,
    NUM_AGENT_STEPS_SAMPLED_LIFETIME,
    NUM_ENV_STEPS_SAMPLED,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_EPISODES,
    NUM_EPISODES_LIFETIME,
    NUM_MODULE_STEPS_SAMPLED,
    NUM_MODULE_STEPS_SAMPLED_LIFETIME,
    SAMPLE_TIMER,
    WEIGHTS_SEQ_NO,
)

from citadels_agents import Collector, SeatedBatch
from citadels_agents.rollout import OnEnd, legal_lists
from citadels_agents.seated import SELF
from citadels_env.actions import N_ACTIONS

from .callbacks import Callbacks, GameEpisode
from .evaluation import whole_games
from .games import LEARNER, PAST, Games, spaces_of
from .module import check_module

GAMES_STATE = "games"
EPISODES_STATE = "episodes"
AT_ONCE = 1024  # games of an evaluation played side by side


def policy_of(module: Any) -> Any:
    """A module as the policy that `Collector` and `play_to_end` ask; None: one that finds all answers equal."""

    def policy(seen: Any, masks: Any) -> tuple[Any, Any]:
        if module is None:
            return np.zeros((len(seen), N_ACTIONS), np.float32), np.zeros(len(seen), np.float32)
        with torch.inference_mode():
            logits, values = module.logits_and_values(torch.from_numpy(seen))
        return logits.contiguous().numpy(), values.contiguous().numpy()

    return policy


class Fragment:
    """What a runner hands to the learners: columns of arrays for each module, advantages included.

    RLlib takes it for an episode: it asks for its length and may slice it (with several learners).
    """

    is_done = True

    def __init__(self, columns: dict[str, dict[str, Any]], steps: int) -> None:
        self.columns = columns
        self._steps = steps

    def __len__(self) -> int:
        return sum(len(rows["actions"]) for rows in self.columns.values())

    def env_steps(self) -> int:
        """Answers given by policies."""
        return self._steps

    agent_steps = env_steps

    def slice(self, slice_: Any, len_lookback_buffer: int | None = None) -> "Fragment":
        """The same share of each module's rows."""
        first, last, _ = slice_.indices(len(self))
        n = max(1, len(self))
        columns = {}
        for module, rows in self.columns.items():
            m = len(rows["actions"])
            columns[module] = {name: column[first * m // n : last * m // n] for name, column in rows.items()}
        return Fragment(columns, self._steps * (last - first) // n)

    def __getitem__(self, slice_: Any) -> "Fragment":
        return self.slice(slice_)


class FragmentsToBatch(ConnectorV2):
    """Learner connector: fragments to one batch for each module, with advantages standardised."""

    def recompute_output_observation_space(self, input_observation_space: Any, input_action_space: Any) -> Any:
        """The space as it is."""
        return input_observation_space

    def recompute_output_action_space(self, input_observation_space: Any, input_action_space: Any) -> Any:
        """The space as it is."""
        return input_action_space

    def __call__(self, *, rl_module: Any, batch: Any, episodes: Any, shared_data: Any = None, **_: Any) -> Any:
        """The batch."""
        for module in sorted({module for fragment in episodes for module in fragment.columns}):
            parts = [part for fragment in episodes if len((part := fragment.columns.get(module, _NONE))["actions"])]
            if not parts:
                continue  # it was never asked
            widest = max(part["legal"].shape[1] for part in parts)
            legal = [np.pad(part["legal"], ((0, 0), (0, widest - part["legal"].shape[1])), constant_values=-1) for part in parts]
            column = {name: torch.from_numpy(np.concatenate([part[name] for part in parts])) for name in parts[0] if name != "legal"}
            advantages = column["advantages"]
            batch[module] = {
                Columns.OBS: {"observation": column["observations"], "legal": torch.from_numpy(np.concatenate(legal))},
                Columns.ACTIONS: column["actions"],
                Columns.ACTION_LOGP: column["log_probabilities"],
                Postprocessing.ADVANTAGES: (advantages - advantages.mean())
                / advantages.std(correction=int(len(advantages) > 1)).clamp(min=1e-4),
                Postprocessing.VALUE_TARGETS: column["targets"],
            }
        return batch


class BatchedEnvRunner(EnvRunner, Checkpointable):
    """Plays `num_envs_per_env_runner` games side by side and hands over decisions with their advantages.

    Chosen by ``config.env_runners(env_runner_cls=BatchedEnvRunner)``, together with `FragmentsToBatch` and
    `learner.FastPPOTorchLearner`; `fast.fast_ppo` sets all of it.  The `env_config` is that of `Games.from_config`,
    and optionally `seed` (otherwise that of the configuration).

    The module "learner" answers for the seats of "self"; other opponents may be names of modules, agents of
    `citadels_agents.make`, which play inside the kernel, and "past", an equal share for each frozen version there is.
    (`policy_mapping_fn` is not asked: `opponents` says who sits where.)  `environment steps` are answers given by modules.

    `sample(num_episodes=n)` plays n whole games, with the learner in each seat equally often, and hands over no decisions.
    `set_past` tells how many frozen versions take part.

    Of RLlib's callbacks on_episode_start and on_episode_end are called when a game begins and ends, with a `GameEpisode`
    and the `SeatedBatch` as `env`, and on_sample_end with the fragment.  Those in `callbacks.NOT_CALLED` raise ValueError here.
    The first games of a runner have been played on by `stagger` when their on_episode_start is called.

    A checkpoint of a local runner holds its games: it goes on where it stopped, unless it is restored to play other games.
    """

    num_env_steps_sampled_lifetime: int

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        options = dict(self.config.env_config)
        self.seed: int | None = options.pop("seed", self.config.seed)
        self.games = Games.from_config(options)
        if LEARNER not in self.config.policies:
            raise ValueError(f"there must be a module {LEARNER!r}, not only {', '.join(map(str, self.config.policies))}")
        self.modules = [LEARNER, *sorted(name for name in self.config.policies if name != LEARNER)]
        self.agents = [f"player_{seat}" for seat in range(self.games.players)]
        self.callbacks = Callbacks(self.config)
        self.watched = self.callbacks.has("on_episode_start") or self.callbacks.has("on_episode_end")
        self.episodes: list[GameEpisode] = []  # of the collector's games, by place; none unless callbacks want them
        self.past = 0  # frozen versions there are
        self.collector: Collector | None = None
        self.module: Any = None
        self._weights_seq_no = 0
        self._needs_initial_reset = False  # RLlib sets it when it removes a module
        if self.worker_index:
            torch.set_num_threads(max(1, int(self.config.num_cpus_per_env_runner or 1)))
        self.make_module()

    # --- what RLlib asks --------------------------------------------------------

    def get_spaces(self) -> dict[str, Any]:
        """Spaces of the environment and of every module."""
        seen, actions = spaces_of(self.games)
        every = tuple(gymnasium.spaces.Dict(dict.fromkeys(self.agents, space)) for space in (seen, actions))
        return {INPUT_ENV_SPACES: every, INPUT_ENV_SINGLE_SPACES: every, **dict.fromkeys(self.modules, (seen, actions))}

    def make_module(self) -> None:
        """Build the modules; ValueError for one that cannot play here."""
        self.module = self.config.get_multi_rl_module_spec(spaces=self.get_spaces(), inference_only=False).build()
        for name in self.modules:
            self.module[name].eval()  # nothing is learned here
            check_module(self.module[name], self.games.rows)

    def make_env(self) -> None:
        """Deal new games."""
        key = (int(self.config.in_evaluation), self.worker_index or 0, self.num_env_steps_sampled_lifetime)
        deal, choose = np.random.SeedSequence(self.seed, spawn_key=key).generate_state(2, np.uint64)
        batch = self.games.batch(
            self.config.num_envs_per_env_runner, int(deal), opponents=self._opponents(), policies=tuple(self.modules[1:])
        )
        self.collector = Collector(
            batch,
            self._fragment_length(),
            gamma=self.config.gamma,
            lambda_=self.config.lambda_,
            learning=[k for k, name in enumerate(self.modules) if self._trains(name)],
            seed=int(choose),
        )
        self.collector.stagger(self.games.stagger)
        self.episodes = self._begin_episodes(batch) if self.watched else []

    def _fragment_length(self) -> int:
        return max(1, int(self.config.get_rollout_fragment_length(self.worker_index or 0)))

    def assert_healthy(self) -> None:
        """Raises AssertionError without a module."""
        assert self.module is not None

    def stop(self) -> None:
        """Nothing is held that needs to be closed."""

    def _trains(self, name: str) -> bool:
        trained = self.config.policies_to_train
        return trained is None or (bool(trained(name, None)) if callable(trained) else name in trained)

    # --- who plays --------------------------------------------------------------

    def _past_modules(self) -> list[str]:
        return sorted((name for name in self.modules if name.startswith(f"{PAST}_")), key=lambda name: (len(name), name))

    def _asks_past(self) -> bool:
        opponents = self.games.opponents
        return PAST in opponents if isinstance(opponents, Mapping) else opponents == PAST

    def _opponents(self) -> Any:
        """The opponents, with "past" replaced by the versions there are (the learner itself while there is none)."""
        opponents = self.games.opponents
        if not self._asks_past():
            return opponents
        if not isinstance(opponents, Mapping):
            opponents = {PAST: 1.0}
        slots = self._past_modules()
        if not slots:
            raise ValueError(f"opponents: {PAST!r} needs modules {PAST}_0, {PAST}_1, ... among the policies")
        shares = {SELF: 0.0, **{name: share for name, share in opponents.items() if name != PAST}, **dict.fromkeys(slots, 0.0)}
        filled = slots[: self.past]
        for name in filled or [SELF]:
            shares[name] += opponents[PAST] / max(len(filled), 1)
        return shares

    def set_past(self, past: int) -> None:
        """From the next games on, `past` frozen versions take part."""
        self.past = past
        if self.collector is not None and self._asks_past():
            self.collector.batch.set_shares(self._opponents())

    def _policies(self, random_actions: bool) -> list[Any]:
        return [policy_of(None if random_actions else self.module[name]) for name in self.modules]

    # --- callbacks about episodes -------------------------------------------------

    def _begin_episodes(self, batch: SeatedBatch) -> list[GameEpisode]:
        """Episodes of the games of a batch, whose on_episode_start is called."""
        episodes = [GameEpisode(batch, place, self.modules) for place in range(batch.num_games)]
        for episode in episodes:
            self._call("on_episode_start", episode, batch)
        return episodes

    def _watch(self, batch: SeatedBatch, episodes: list[GameEpisode], *, go_on: bool) -> OnEnd:
        """What is to be told of the games that end: calls the callbacks, and with `go_on` begins the next episode there."""

        def on_end(records: Any) -> None:
            for record in records:
                place = int(record["place"])
                episodes[place].end(record)
                self._call("on_episode_end", episodes[place], batch, prev_episode_chunks=[])
                if go_on:
                    episodes[place] = GameEpisode(batch, place, self.modules)
                    self._call("on_episode_start", episodes[place], batch)

        return on_end

    def _call(self, name: str, episode: GameEpisode, batch: SeatedBatch, **more: Any) -> None:
        self.callbacks.call(
            name, episode=episode, env_runner=self, metrics_logger=self.metrics, env=batch, rl_module=self.module,
            env_index=episode.env_index, **more,
        )  # fmt: skip

    # --- sampling ---------------------------------------------------------------

    def sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool | None = None,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[Fragment]:
        """Play a fragment of every game (about `num_timesteps` answers in all), or `num_episodes` whole games."""
        started = time.perf_counter()
        greedy = not (self.config.explore if explore is None else explore)
        policies = self._policies(random_actions)
        self.metrics.log_value(WEIGHTS_SEQ_NO, self._weights_seq_no, window=1)
        if num_episodes is not None:
            ended, answers = self._whole_games(num_episodes, policies, greedy)
            fragment = Fragment({}, sum(answers))
            self._log(sum(answers), ended, {"policies": answers})
        else:
            if self.collector is None or force_reset or self._needs_initial_reset:
                self._needs_initial_reset = False
                self.make_env()
            assert self.collector is not None
            length = self._fragment_length()
            if num_timesteps is not None:
                length = max(1, num_timesteps // self.collector.batch.num_games)
            on_end = self._watch(self.collector.batch, self.episodes, go_on=True) if self.watched else None
            rows, ended = self.collector.collect(policies, greedy, length, on_end)
            steps = length * self.collector.batch.num_games
            fragment = Fragment({self.modules[policy]: _columns(rows[policy]) for policy in rows}, steps)
            self._log(steps, ended, self.collector.counts)
        samples = [fragment]
        if self.callbacks.has("on_sample_end"):
            self.callbacks.call("on_sample_end", env_runner=self, metrics_logger=self.metrics, samples=samples)
        self.metrics.log_value(SAMPLE_TIMER, time.perf_counter() - started)
        return samples

    def _whole_games(self, number: int, policies: list[Any], greedy: bool) -> tuple[Any, list[int]]:
        """ENDED records of whole games, and how many answers each policy gave."""
        answers = [0] * len(policies)

        def counted(k: int) -> Any:
            def policy(seen: Any, masks: Any) -> Any:
                answers[k] += len(seen)
                return policies[k](seen, masks)

            return policy

        key = (2 + int(self.config.in_evaluation), self.worker_index or 0, self.num_env_steps_sampled_lifetime)
        entropy = np.random.SeedSequence(self.seed, spawn_key=key)
        ended = whole_games(
            self.games, [counted(k) for k in range(len(policies))], number, lambda start: entropy.spawn(1)[0], AT_ONCE, greedy=greedy,
            watch=(lambda batch: self._watch(batch, self._begin_episodes(batch), go_on=False)) if self.watched else None,
            opponents=self._opponents(), policies=tuple(self.modules[1:]),
        )  # fmt: skip
        return ended, answers

    def _log(self, steps: int, ended: Any, counts: Mapping[str, Any]) -> None:
        """RLlib's usual metrics."""
        log = self.metrics.log_value
        self.num_env_steps_sampled_lifetime += steps
        log(NUM_ENV_STEPS_SAMPLED, steps, reduce="sum")
        log(NUM_ENV_STEPS_SAMPLED_LIFETIME, steps, reduce="lifetime_sum", with_throughput=True)
        for agent, count in zip(self.agents, counts.get("seats", ()), strict=False):
            log((NUM_AGENT_STEPS_SAMPLED, agent), int(count), reduce="sum")
            log((NUM_AGENT_STEPS_SAMPLED_LIFETIME, agent), int(count), reduce="lifetime_sum")
        for name, count in zip(self.modules, counts.get("policies", ()), strict=False):
            log((NUM_MODULE_STEPS_SAMPLED, name), int(count), reduce="sum")
            log((NUM_MODULE_STEPS_SAMPLED_LIFETIME, name), int(count), reduce="lifetime_sum")
        log(NUM_EPISODES, len(ended), reduce="sum")
        log(NUM_EPISODES_LIFETIME, len(ended), reduce="lifetime_sum")
        window = max(1, math.ceil(self.config.metrics_num_episodes_for_smoothing / (self.config.num_env_runners or 1)))
        for game in ended if self.config.in_evaluation else ended[-window:]:
            self._log_game(game, max(window, len(ended)) if self.config.in_evaluation else window)

    def _log_game(self, game: Any, window: int) -> None:
        players = self.games.rules[game["rules"]].players
        rewards = game["rewards"][:players]
        of_modules: dict[str, list[float]] = {}
        for code, reward in zip(game["seating"][:players], rewards, strict=True):
            if code < 0:
                of_modules.setdefault(self.modules[-1 - code], []).append(float(reward))
        total, length = sum(map(sum, of_modules.values())), int(game["decisions"])
        agents = {agent: float(r) for agent, r, code in zip(self.agents, rewards, game["seating"], strict=False) if code < 0}
        means = {
            EPISODE_LEN_MEAN: length,
            EPISODE_RETURN_MEAN: total,
            EPISODE_AGENT_RETURN_MEAN: agents,
            # of one seat (RLlib's own runner adds up the seats of a module)
            EPISODE_MODULE_RETURN_MEAN: {name: sum(values) / len(values) for name, values in of_modules.items()},
            "rounds_mean": float(game["rounds"]),
        }
        self.metrics.log_dict(means, window=window)
        self.metrics.log_dict({EPISODE_LEN_MIN: length, EPISODE_RETURN_MIN: total}, reduce="min", window=window)
        self.metrics.log_dict({EPISODE_LEN_MAX: length, EPISODE_RETURN_MAX: total}, reduce="max", window=window)

    def get_metrics(self) -> Any:
        """What was logged since the last call."""
        return self.metrics.reduce()

    # --- state ------------------------------------------------------------------

    def get_state(self, components: Any = None, *, not_components: Any = None, **kwargs: Any) -> dict[str, Any]:
        """Weights, counters, and the games being played."""
        state: dict[str, Any] = {NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime, PAST: self.past}
        if self._check_component(COMPONENT_RL_MODULE, components, not_components):
            state[COMPONENT_RL_MODULE] = self.module.get_state(
                components=self._get_subcomponents(COMPONENT_RL_MODULE, components),
                not_components=self._get_subcomponents(COMPONENT_RL_MODULE, not_components),
                **kwargs,
            )
            state[WEIGHTS_SEQ_NO] = self._weights_seq_no
        if self.collector is not None and self._check_component(GAMES_STATE, components, not_components):
            state[GAMES_STATE] = pickle.dumps((self._played(), self.collector))
            if self.watched:
                state[EPISODES_STATE] = cloudpickle.dumps(self.episodes)
        return state

    def _played(self) -> tuple[Any, ...]:
        """What the games of a state must have been played for to go on here."""
        config = self.config
        trained = [name for name in self.modules if self._trains(name)]
        place = (self.worker_index or 0, config.in_evaluation, config.num_envs_per_env_runner)
        return (*place, self.games, self.modules, trained, config.gamma, config.lambda_)

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over what `get_state` returned."""
        if COMPONENT_RL_MODULE in state:
            number = state.get(WEIGHTS_SEQ_NO, 0)
            # "not equal", not "larger": weights of an older checkpoint must arrive, too
            if number == 0 or self._weights_seq_no != number:
                weights = state[COMPONENT_RL_MODULE]
                self.module.set_state(ray.get(weights) if isinstance(weights, ray.ObjectRef) else weights)
            if number > 0:
                self._weights_seq_no = number
        self.num_env_steps_sampled_lifetime = int(state.get(NUM_ENV_STEPS_SAMPLED_LIFETIME, self.num_env_steps_sampled_lifetime))
        if GAMES_STATE in state:
            played, collector = pickle.loads(state[GAMES_STATE])
            if played == self._played():  # RLlib shows a runner's state to others, and a checkpoint may be restored for other games
                self.collector = collector
                if self.watched:
                    batch, kept = collector.batch, state.get(EPISODES_STATE)
                    self.episodes = (
                        pickle.loads(kept) if kept else [GameEpisode(batch, place, self.modules) for place in range(batch.num_games)]
                    )
        if PAST in state:
            self.set_past(state[PAST])

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What makes another one like this."""
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        """The modules."""
        return [(COMPONENT_RL_MODULE, self.module)]


_NONE: dict[str, Any] = {"actions": ()}


def _columns(rows: dict[str, Any]) -> dict[str, Any]:
    """The columns that learners need: lists of legal answers are a fiftieth of the masks' size."""
    kept = {name: rows[name] for name in ("observations", "actions", "log_probabilities", "advantages", "targets")}
    return {**kept, "legal": legal_lists(rows["masks"])}
