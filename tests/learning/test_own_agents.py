"""Agents of one's own and short names as opponents in training."""

import pytest

from citadels_agents import registry
from citadels_experiments.learning.games import Games

pytest.importorskip("ray")
pytest.importorskip("torch")

from citadels_experiments.learning.training import Training

FILE = """
from citadels_agents import register

class Last:
    name = "last"

    def act(self, view):
        return int(view.legal_indices()[-1])

register("learning-last", Last)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(FILE)
    yield path
    registry._FACTORIES.pop("learning-last", None)
    registry._ALIASES.pop("calm", None)
    registry._FILES.clear()


def test_games_have_opponents_by_short_names_and_from_files(file):
    config = {
        "players": 3,
        "agents_from": [str(file)],
        "aliases": {"calm": "expert:inference=none"},
        "opponents": {"self": 0.5, "calm": 0.25, "learning-last": 0.25},
    }
    batch = Games.from_config(config).batch(8, 1)
    assert sorted(agent.name for agent in batch.agents) == ["calm", "learning-last"]
    for wrong, message in (
        ({"aliases": {"calm": "exprt"}}, "games: aliases: .*did you mean 'expert'"),
        ({"aliases": "calm"}, "aliases is a table"),
        ({"agents_from": 3}, "agents_from is a file or a list"),
        ({"editions": "germn"}, "did you mean 'german'"),
        ({"oponents": "calm"}, "did you mean 'opponents'"),
    ):
        with pytest.raises(ValueError, match=message):
            Games.from_config(wrong)


def test_a_run_keeps_what_its_short_names_stand_for(file):
    run = Training.from_config(
        {
            "games": {"agents_from": str(file), "aliases": {"calm": "expert:inference=none"}, "opponents": ["calm"] * 3},
            "evaluation": {"opponents": ["learning-last", "calm"]},
            "run": {"iterations": 1},
        }
    )
    parameters = run.parameters()
    assert parameters["aliases"] == {"calm": "expert:inference=none"}
    assert parameters["modules"] == [[file.name, registry.load_agents(file)[1]]]
    assert "files" not in parameters
