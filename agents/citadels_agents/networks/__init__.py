"""Trained networks as files, and an agent that plays them with NumPy alone: neither torch nor ray is needed."""

from .files import save_network
from .player import Network, NetworkAgent

__all__ = ["Network", "NetworkAgent", "save_network"]
