"""One number that fingerprints how the game plays: `python -m citadels_env.signature`.

It changes exactly when some rule, the deal or the numbering of actions changes, and is the same for compiled and
plain Python (`NUMBA_DISABLE_JIT=1`).  A commit that changes it on purpose states the new number.
"""

from hashlib import sha256
from itertools import cycle, islice, product

import numpy as np

from .batch import Batch
from .cards import ROLES
from .rules import EDITIONS, Rules

FIELDS = ("steps", "round_number", "crown", "gold", "hand", "city", "coins", "deck_size", "known", "owner", "first_completers", "score")


def rules_sample() -> list[Rules]:
    """Rules of every edition, number of players and role, with all new districts."""
    result = []
    variants = cycle((0, 1, 2))
    for edition, players in product(EDITIONS.values(), range(2, 9)):
        variant = next(variants)
        roles = [ROLES[2 * rank + (rank + variant) % 2].name if variant < 2 else ROLES[2 * rank + 1].name for rank in range(8)]
        if players >= 4:
            roles.append("Queen" if players >= 5 and variant else "Artist")
        result.append(edition.quietly(players=players, roles=tuple(roles), add_districts="all"))
    return result


def signature(games: int = 210) -> str:
    """The fingerprint of `games` random games: 16 hexadecimal digits."""
    batch = Batch(list(islice(cycle(rules_sample()), games)), seed=2024, auto_reset=False)
    batch.play_out()
    digest = sha256()
    for name in FIELDS:
        digest.update(np.ascontiguousarray(batch.states[name]).astype("<i8").tobytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    print(signature())
