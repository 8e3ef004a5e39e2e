"""The examples of the README run as they stand."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from citadels_agents import specs, weights
from citadels_experiments import cli

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
AGENTS = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
LONGER = re.findall(r"```python\n(.*?)```", AGENTS, re.DOTALL)
COMMANDS = re.findall(r"^citadels [^\n#&|]*", README, re.MULTILINE) + re.findall(r"&& (citadels [^\n#&|]*)", README)


def test_there_are_examples():
    assert len(EXAMPLES) >= 4
    assert len(COMMANDS) >= 4


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_runs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = EXAMPLES[number]
    assert len(code.splitlines()) <= 12
    exec(compile(code, f"README example {number}", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("number", range(len(LONGER)))
def test_example_of_the_page_on_agents_runs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(LONGER[number], f"docs/agents.md example {number}", "exec"), {"__name__": "__main__"})


def test_the_page_on_agents_shows_the_weights_and_the_options_of_the_code():
    assert weights.table() in AGENTS
    for options in (specs.PERSONA, specs.SEARCH, specs.NETWORK):
        assert specs.table(options) in AGENTS


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_understood(command):
    """Every command of the README parses, without being run."""
    arguments = command.split()[1:]
    result = CliRunner().invoke(cli.main, [*arguments, "--help"])
    assert result.exit_code == 0, result.output
    context = cli.main.make_context("citadels", list(arguments))
    group = cli.main
    while arguments and isinstance(group, type(cli.main)):
        group = group.commands[arguments.pop(0)]
    if not isinstance(group, type(cli.main)):
        group.make_context(group.name, [argument.strip("'\"") for argument in arguments], parent=context)
