"""PettingZoo's three standard wrappers with a short way for legal answers.

A legal answer of a running game passes `TerminateIllegalWrapper`, `AssertOutOfBoundsWrapper` and
`OrderEnforcingWrapper` unchanged, but the three cost several times what the game itself does.  Here they
stand in their usual order, and only what they might object to is sent through them.
"""

from operator import attrgetter
from typing import Any

from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from ..actions import N_ACTIONS
from ..checks import index_of
from ..errors import IllegalActionError
from .aec import raw_env

ILLEGAL_REWARD = -1  # for the player who answers illegally, which ends the game


class OutOfBoundsError(IllegalActionError, AssertionError):
    """What is no action at all; an AssertionError, too, because that is what PettingZoo's `AssertOutOfBoundsWrapper` raises."""


class StandardWrappers(OrderEnforcingWrapper):
    """What `OrderEnforcing(AssertOutOfBounds(TerminateIllegal(raw)))` does, faster.

    `env` is that stack without its outermost wrapper, which this class is itself.
    """

    def __init__(self, raw: raw_env) -> None:
        super().__init__(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(raw, illegal_reward=ILLEGAL_REWARD)))
        self._raw = raw

    # Before `reset` the game has none of these, and the property falls through to the wrapper's own refusal.
    agents = property(attrgetter("_raw.agents"))
    agent_selection = property(attrgetter("_raw.agent_selection"))
    rewards = property(attrgetter("_raw.rewards"))
    terminations = property(attrgetter("_raw.terminations"))
    truncations = property(attrgetter("_raw.truncations"))
    infos = property(attrgetter("_raw.infos"))

    def step(self, action: Any) -> None:
        """Answer the open question; an illegal answer ends the game with -1 for who gave it.

        Raises OutOfBoundsError (a ValueError and an AssertionError) for what is no action at all, and PettingZoo's own errors for
        what comes in the wrong order; nothing is changed then.
        """
        if self._has_reset and self._raw.is_legal(action):
            self._has_updated = True
            self._raw.answer(action)
        elif self._has_reset and not 0 <= index_of(action, -1) < N_ACTIONS and (action is not None or self._raw.running):
            raise OutOfBoundsError(f"action is not in action space: {self._raw._refusal(action)}")
        else:
            super().step(action)

    def observe(self, agent: str) -> Any:
        """What `agent` sees."""
        return self._raw.observe(agent) if self._has_reset else super().observe(agent)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last turn, termination, truncation and info of the agent to act."""
        if not self._has_reset:
            return super().last(observe)
        raw = self._raw
        agent = raw.agent_selection
        observation = raw.observe(agent) if observe else None
        return observation, raw._cumulative_rewards[agent], raw.terminations[agent], raw.truncations[agent], raw.infos[agent]

    def __str__(self) -> str:
        return str(self.env)
