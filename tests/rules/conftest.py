"""The marker of the rule tests."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker `rule` known."""
    config.addinivalue_line("markers", "rule(*numbers): the numbers of docs/rulebook.md that the test proves")
