"""Citadels with The Dark City: an exact, fast rules core with honest hidden information, and environments on it.

`Game` is one game for people, `Batch` thousands for machines, `Rules` (`GERMAN`, `FRENCH`, `AMERICAN`) what they
are played by; `citadels_env.citadels_v0` is the PettingZoo environment.
"""

from .batch import Batch
from .cards import DISTRICTS, ROLES
from .game import Game
from .rules import AMERICAN, EDITIONS, FRENCH, GERMAN, Rules
from .vocabulary import Ask, Colour, Role

__all__ = ["AMERICAN", "DISTRICTS", "EDITIONS", "FRENCH", "GERMAN", "ROLES", "Ask", "Batch", "Colour", "Game", "Role", "Rules"]
__version__ = "0.1.0"
