"""Players of Citadels: random, personas, tree search, and your own; whole games at full speed."""

from .arena import RESULT
from .registry import Agent, AgentError, KernelAgent, View, make, names, play_games, play_lineups, register

__all__ = ["RESULT", "Agent", "AgentError", "KernelAgent", "View", "make", "names", "play_games", "play_lineups", "register"]
