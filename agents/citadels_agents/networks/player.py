"""Networks played with NumPy.

An input is log2(1 + entry of the observation).  Then come linear layers with ReLU, and two linear heads: one logit per
action, and a value.
"""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from citadels_env import Game, Rules, observation
from citadels_env.actions import MAX_PLAYERS, N_ACTIONS
from citadels_env.batch import game_seeds
from citadels_env.checks import one_of

from .. import perceptron
from ..perceptron import SCALED
from ..registry import View
from .files import check, read_network, unpacked

CHOICES = ("best", "sample")
_PLAYERS = observation.offsets()["game"] + observation.GAME_COLUMNS.index("players")


def compact_columns(rows: int) -> Any:
    """Where the entries of the compact form for `rows` players stand in the full form: int64 array of ``size(rows)``."""
    at = observation.offsets()
    return np.concatenate([at[block.name] + np.arange(block.size) for block in observation.blocks(rows)])


class Network:
    """A network, ready to play; a policy as `Collector` and `play_to_end` take it.

    tensors: as in `save_network`.
    rows: player rows it reads: 8 (full observations), or the number of players (compact ones).  Full observations of
        games of so many players are good for the latter, too.
    metadata: what its file says of it.

    Raises ValueError for missing, misshapen, not finite or absurdly large tensors.
    """

    def __init__(self, tensors: Mapping[str, Any], rows: int = MAX_PLAYERS, metadata: Mapping[str, Any] | None = None) -> None:
        self.hidden = check(tensors, rows)
        self.rows, self.size = rows, observation.size(rows)
        self.metadata = dict(metadata or {})
        self._columns = compact_columns(rows)
        # (inputs, outputs), so that the weights of one input lie side by side
        self._body = [
            (np.ascontiguousarray(tensors[f"body.{2 * k}.weight"].T), np.array(tensors[f"body.{2 * k}.bias"]))
            for k in range(len(self.hidden))
        ]
        # (outputs, inputs), so that the weights of one action do
        self._policy = np.array(tensors["policy.weight"], order="C"), np.array(tensors["policy.bias"])
        self._value = np.array(tensors["value.weight"][0]), np.float32(tensors["value.bias"][0])

    @classmethod
    def load(cls, path: str | Path) -> "Network":
        """The network of a file; ValueError, saying why, if it cannot be played."""
        tensors, metadata = read_network(Path(path).expanduser())
        return cls(tensors, metadata["rows"], metadata)

    @cached_property
    def rules(self) -> tuple[Rules, ...]:
        """The rules of the games it was trained on."""
        return unpacked(self.metadata["rules"]) if self.metadata else ()

    @property
    def rules_shares(self) -> tuple[float, ...]:
        """How often each of them was drawn, relative to the others; empty: equally often."""
        return tuple(self.metadata.get("rules_shares", ()))

    @property
    def training(self) -> dict[str, Any]:
        """How it came about."""
        return dict(self.metadata.get("training", {}))

    def __call__(self, observations: Any, masks: Any = None) -> tuple[Any, Any]:
        """Logits (n, N_ACTIONS) and values (n,), float32, of uint8 observations (n, size); masks are not looked at.

        Raises ValueError for observations of another size, or of games of another number of players.
        """
        x = SCALED[self._inputs(observations)]
        for weight, bias in self._body:
            x = x @ weight
            x += bias
            np.maximum(x, 0, out=x)
        logits = x @ self._policy[0].T
        logits += self._policy[1]
        return logits, x @ self._value[0] + self._value[1]

    def logits(self, observations: Any) -> Any:
        """Logits (n, N_ACTIONS) float32 of uint8 observations (n, size)."""
        return self(observations)[0]

    def legal_logits(self, seen: Any, legal: Any) -> Any:
        """The logits of some actions (int64 indices) in one observation (size,): float32.

        They do not depend on what else is asked, to the last bit; those of `logits` may, since sums there are in any order.
        """
        mask, logits = np.zeros((1, N_ACTIONS), np.uint8), np.zeros((1, N_ACTIONS), np.float32)
        mask[0, legal] = 1
        self.answers(seen[np.newaxis], mask, np.zeros(1, np.uint64), False, logits)
        return logits[0, legal]

    def packed(self, draws: bool) -> tuple[Any, Any, int, bool]:
        """The network as `perceptron.packed` takes it; `draws`: it draws its answers."""
        return self._body, self._policy, self.rows, draws

    @cached_property
    def _in_kernel(self) -> dict[bool, tuple[Any, Any]]:
        return {draws: perceptron.packed([self.packed(draws)]) for draws in (False, True)}

    def answers(self, observations: Any, masks: Any, rngs: Any, draws: bool = False, logits: Any = None) -> Any:
        """The best legal actions, of equals the first, or with `draws` some drawn by their probabilities: int64 array (n,).

        observations: uint8 (n, size); masks: uint8 or bool (n, N_ACTIONS); rngs: uint64 (n,), what decides the draws.  -1 where
        a logit is not finite.  `logits` (n, N_ACTIONS) float32 gets those of legal actions.  A row's answer does not
        depend on the others.
        """
        found = np.zeros(len(observations), np.int64)
        seen = np.ascontiguousarray(self._inputs(observations))
        logits = np.zeros((len(found), 0), np.float32) if logits is None else logits
        perceptron.answer_rows(*self._in_kernel[draws], seen, np.ascontiguousarray(masks).view(np.uint8), rngs, found, logits)
        return found

    def _inputs(self, observations: Any) -> Any:
        """The observations in the form that the network reads."""
        if observations.ndim != 2 or observations.dtype != np.uint8:
            raise ValueError(f"observations are a uint8 array (n, size), not {observations.dtype} of shape {observations.shape}")
        given = observations.shape[1]
        if given == self.size:
            return observations
        if given != observation.size():
            raise ValueError(f"the network reads {self.size} entries, or those of the full form ({observation.size()}), not {given}")
        others = observations[:, _PLAYERS] != self.rows
        if others.any():
            raise ValueError(f"the network plays games of {self.rows} players only, not of {observations[others.argmax(), _PLAYERS]}")
        return observations[:, self._columns]


@lru_cache(maxsize=8)
def _loaded(path: Path, changed: int, size: int) -> Network:
    """Tournaments make their agents anew for every game: the same file is read once."""
    return Network.load(path)


class NetworkAgent:
    """An agent that answers with a network: its best legal answer (of equals the first), or one drawn by its probabilities.

    choice: best or sample; a sample depends on the view's seed.

    Raises InvalidArgumentError (a ValueError) for another choice.
    """

    in_kernel = False

    def __init__(self, name: str, network: Network, choice: str = "best") -> None:
        one_of("choice", choice, CHOICES)
        self.name, self.network, self.choice = name, network, choice

    @classmethod
    def load(cls, path: str | Path, choice: str = "best") -> "NetworkAgent":
        """The agent of a file; ValueError, saying why, if it cannot be played."""
        place = Path(path).expanduser().absolute()
        stat = place.stat() if place.is_file() else None
        network = _loaded(place, stat.st_mtime_ns, stat.st_size) if stat else Network.load(place)
        return cls(f"network:file={path},choice={choice}", network, choice)

    def __repr__(self) -> str:
        return f"<agent {self.name}>"

    @property
    def rules(self) -> tuple[Rules, ...]:
        """The rules of the games it was trained on."""
        return self.network.rules

    @property
    def training(self) -> dict[str, Any]:
        """How it came about."""
        return self.network.training

    @property
    def fingerprint(self) -> str:
        """The checksum of its file: agents of one name and different fingerprints are different players."""
        return str(self.network.metadata["sha256"])[:16]

    @property
    def packed(self) -> tuple[Any, Any, int, bool]:
        """The network and its way to choose, as `perceptron.packed` takes them."""
        return self.network.packed(self.choice == "sample")

    def act(self, view: View) -> int:
        """The index of the answer; ValueError in a game of a number of players that the network does not read."""
        return int(self.act_in(view.observation[np.newaxis], view.mask[np.newaxis], game_seeds(view.seed, 1))[0])

    def act_in(self, observations: Any, masks: Any, rngs: Any) -> Any:
        """The answers in many games, int64 (n,); the arguments are those of `Network.answers`.

        Raises ValueError for games of a number of players that the network does not read, or a logit that is not finite.
        """
        found = self.network.answers(observations, masks, rngs, self.choice == "sample")
        if (found < 0).any():
            raise ValueError(f"{self.name} does not play: its logits are not finite")
        return found

    def explain(self, game: Game) -> list[tuple[str, float]]:
        """The open answers with their probabilities, best first."""
        if game.actor is None:
            return []
        legal = game.legal_indices()
        logits = self.network.legal_logits(game.observation(), legal).astype(np.float64)
        chances = np.exp(logits - logits.max())
        chances /= chances.sum()
        return [(game.describe(int(legal[k])), float(chances[k])) for k in np.argsort(-logits, kind="stable")]
