"""RLlib's callbacks on the fast path: which are called, and the episode that they are shown."""

from typing import Any
from uuid import uuid4

from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.callbacks.utils import make_callback
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.utils import force_list

from citadels_agents import SeatedBatch

CALLED = ("on_episode_start", "on_episode_end", "on_sample_end")  # by the runner; others of RLlib's are called by the Algorithm
# What a runner cannot call, and why.
NOT_CALLED = {
    "on_episode_created": "games are dealt before an episode is made; use on_episode_start",
    "on_episode_step": "a step is of all games at once, without Python for each; use on_episode_end or on_sample_end",
    "on_environment_created": "there is no environment object; use on_algorithm_init",
    "on_sub_environment_created": "RLlib's new API stack does not call it",
    "on_postprocess_trajectory": "RLlib's new API stack does not call it",
    "on_create_policy": "RLlib's new API stack does not call it",
    "on_learn_on_batch": "RLlib's new API stack does not call it",
}


class GameEpisode:
    """A game of the fast path: what callbacks about episodes get in place of RLlib's `MultiAgentEpisode`.

    It has the same names where it knows the same, and no observations, actions or single steps: asking for those
    raises AttributeError.

    id_: a text that no other episode has.
    env_index: the game's place in the batch.
    rules, seed: `Game(rules, seed)` deals this game (what happens then depends on the answers).
    seating: who answers for each agent ("player_0", ...): the name of a module or of an agent of `citadels_agents.make`.
    modules: the module that answers for each agent, without the seats of agents that are no module.
    custom_data: a dict for the user, kept from on_episode_start to on_episode_end.
    is_terminated, is_truncated: how it ended; both false before.  A game cut off after `max_rounds` rounds is truncated.
    rounds: played so far; known at the end, 0 before.
    rewards, scores: of each agent, modules' or not; known at the end, empty before.
    """

    def __init__(self, batch: SeatedBatch, place: int, modules: list[str]) -> None:
        game = batch.games[place]
        self.id_ = uuid4().hex
        self.env_index = place
        self.rules = batch.rules[int(game["rules"])]
        self.seed = int(batch.seeds[place])
        codes = {f"player_{seat}": int(game["seating"][seat]) for seat in range(self.rules.players)}
        self.modules = {agent: modules[-1 - code] for agent, code in codes.items() if code < 0}
        self.seating = {agent: modules[-1 - code] if code < 0 else str(batch.agents[code].name) for agent, code in codes.items()}
        self.custom_data: dict[str, Any] = {}
        self.is_terminated = self.is_truncated = False
        self.rounds = 0
        self.rewards: dict[str, float] = {}
        self.scores: dict[str, int] = {}
        self._decisions = int(game["decisions"])

    def end(self, record: Any) -> None:
        """Note the outcome, a record of ENDED."""
        self.is_truncated = bool(record["truncated"])
        self.is_terminated = not self.is_truncated
        self.rounds, self._decisions = int(record["rounds"]), int(record["decisions"])
        self.rewards = {agent: float(reward) for agent, reward in zip(self.seating, record["rewards"], strict=False)}
        self.scores = {agent: int(score) for agent, score in zip(self.seating, record["scores"], strict=False)}

    def __len__(self) -> int:
        """Decisions of all seats, those of agents included: at the start of the episode, so far; at its end, in all."""
        return self._decisions

    env_steps = __len__

    @property
    def is_done(self) -> bool:
        """Is the game over?"""
        return self.is_terminated or self.is_truncated

    @property
    def agent_ids(self) -> set[str]:
        """The agents that modules answer for."""
        return set(self.modules)

    def module_for(self, agent_id: str) -> str | None:
        """The module that answers for an agent; None if none does."""
        return self.modules.get(agent_id)

    def get_return(self) -> float:
        """The sum of the rewards of all agents that modules answer for (0 before the end, where all rewards come)."""
        return sum(self.rewards.get(agent, 0.0) for agent in self.modules)

    @property
    def module_returns(self) -> dict[str, float]:
        """The mean reward of each module's seats; empty before the end."""
        seats: dict[str, list[float]] = {}
        for agent, module in self.modules.items():
            if agent in self.rewards:
                seats.setdefault(module, []).append(self.rewards[agent])
        return {module: sum(rewards) / len(rewards) for module, rewards in seats.items()}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(MultiAgentEpisode, name):
            raise AttributeError(
                f"an episode of the fast path has no {name}: it knows the game as a whole (rules, seating, rewards, scores, "
                "rounds, length), not its steps; RLlib's own runner (stock_ppo) keeps those",
                name=name,
                obj=self,
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)


class Callbacks:
    """The callbacks of a configuration, given as classes, functions or both.

    Raises ValueError for one that would never be called on the fast path, naming all of them.
    """

    def __init__(self, config: Any) -> None:
        self.objects = [make() for make in force_list(config.callbacks_class)]
        self.functions = {name: force_list(getattr(config, f"callbacks_{name}", None)) for name in (*CALLED, *NOT_CALLED)}
        silent = [name for name in NOT_CALLED if self.has(name)]
        if silent:
            reasons = "; ".join(f"{name} ({NOT_CALLED[name]})" for name in silent)
            raise ValueError(
                f"callbacks that BatchedEnvRunner does not call: {reasons}. It calls {', '.join(CALLED)}, and the Algorithm those about "
                "training, evaluation and checkpoints; RLlib's own runner (stock_ppo) has single steps"
            )

    def has(self, name: str) -> bool:
        """Is there anything to be called?"""
        return bool(self.functions[name]) or any(_overrides(given, name) for given in self.objects)

    def call(self, name: str, **arguments: Any) -> None:
        """Call it, those of classes first."""
        make_callback(name, callbacks_objects=self.objects, callbacks_functions=self.functions[name], kwargs=arguments)


def _overrides(given: Any, name: str) -> bool:
    """Does a callbacks object do anything there?"""
    if getattr(given, "IS_CALLBACK_CONTAINER", False):  # of RLlib's make_multi_callbacks: hands everything on
        return any(_overrides(part, name) for part in given._callback_list)
    method = getattr(given, name, None)
    return getattr(method, "__func__", method) not in (None, getattr(RLlibCallback, name, None))
