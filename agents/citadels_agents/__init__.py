"""Players of Citadels: random, personas, tree search, and your own; whole games at full speed."""

from .arena import RESULT
from .registry import Agent, AgentError, KernelAgent, View, alias, load_agents, make, names, play_games, play_lineups, register
from .rollout import Collector, play_to_end
from .seated import SeatedBatch

__all__ = [
    "RESULT",
    "Agent",
    "AgentError",
    "Collector",
    "KernelAgent",
    "SeatedBatch",
    "View",
    "alias",
    "load_agents",
    "make",
    "names",
    "play_games",
    "play_lineups",
    "play_to_end",
    "register",
]
