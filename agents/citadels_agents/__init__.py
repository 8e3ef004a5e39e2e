"""Players of Citadels: kernel agents that play whole games at full speed."""

from .arena import AGENTS, RESULT, play_games

__all__ = ["AGENTS", "RESULT", "play_games"]
