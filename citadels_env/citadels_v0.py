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

from typing import Any

import pettingzoo

from .envs.aec import raw_env
from .envs.wrappers import StandardWrappers

__all__ = ["ENV_ID", "env", "raw_env"]

ENV_ID = "citadels/citadels-v0"


def env(**kwargs: Any) -> StandardWrappers:
    """The environment with PettingZoo's standard wrappers; the arguments are those of `raw_env`."""
    return StandardWrappers(raw_env(**kwargs))


def _register() -> None:
    """Enter the environment into PettingZoo's registry, once."""
    if hasattr(pettingzoo, "register") and ENV_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", id=ENV_ID, entry_point=f"{__name__}:env")


_register()
