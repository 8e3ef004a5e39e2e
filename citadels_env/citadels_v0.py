"""The PettingZoo environment `citadels_v0`: `env` for users, `raw_env` for those who wrap it themselves.

    from citadels_env import citadels_v0

    env = citadels_v0.env(num_players=5)
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        over = termination or truncation
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Importing this module enters it into PettingZoo's registry, where there is one (PettingZoo 1.27):
`pettingzoo.make("aec", "citadels/citadels-v0", num_players=5)`.

Version history:

* v0: the first version.
"""

import pettingzoo

from .envs.aec import raw_env
from .envs.wrappers import StandardWrappers
from .rules import Rules

__all__ = ["ENV_ID", "env", "raw_env"]

ENV_ID = "citadels/citadels-v0"


def env(
    rules: Rules | None = None,
    num_players: int | None = None,
    render_mode: str | None = None,
    rewards: str = "win",
    mask_in: str = "obs",
    compact: bool = False,
) -> StandardWrappers:
    """`raw_env` (see there for the arguments) in PettingZoo's standard wrappers.

    An illegal answer ends the game for everybody, with -1 for the player who gave it; what is no action at all, or
    comes in the wrong order, raises an error.  `env(...).unwrapped` is the `raw_env`.
    """
    return StandardWrappers(raw_env(rules, num_players, render_mode, rewards, mask_in, compact))


def _register() -> None:
    """Enter the environment into PettingZoo's registry, once."""
    if hasattr(pettingzoo, "register") and ENV_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", id=ENV_ID, entry_point=f"{__name__}:env")


_register()
