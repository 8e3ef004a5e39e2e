"""Ray for the tests of training: one small instance on this machine for the whole session."""

import os
import sys

# read when ray is imported
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import pytest


@pytest.fixture(scope="session")
def ray_running():
    """A local Ray instance."""
    ray = pytest.importorskip("ray")
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ray.init(
        num_cpus=4, include_dashboard=False, object_store_memory=500 * 10**6, log_to_driver=False, logging_level="error",
        runtime_env={"env_vars": paths},
    )  # fmt: skip
    yield ray
    ray.shutdown()
