"""Tuning of weights and the fit of the value estimate, on few games."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from citadels_agents import evaluation, personas
from citadels_experiments import cli, tuning, value

pytest.importorskip("cma")

SMALL = {"start": "heuristic", "field": ("builder",), "population": 4, "games": 8, "sigma": 0.3}


def _tune(folder: Path, generations: int, **changes: object) -> list[str]:
    lines: list[str] = []
    tuning.tune(**(SMALL | {"generations": generations, "out": folder / "found.json", "report": lines.append} | changes))  # type: ignore[arg-type]
    return lines


def test_tuning_is_reproducible_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
    assert len(_tune(tmp_path / "whole", 3)) == 4
    _tune(tmp_path / "parts", 1)
    lines = _tune(tmp_path / "parts", 3)
    assert lines[0].startswith("generation 2/3")
    whole, parts = (json.loads((tmp_path / name / "found.json").read_text()) for name in ("whole", "parts"))
    assert whole["weights"] == parts["weights"]
    assert whole["history"] == parts["history"]
    assert len(whole["history"]) == 3
    assert "citadels tune --start heuristic --field builder" in whole["command"]
    found = personas.load(tmp_path / "whole" / "found.json")
    assert found["inference"][0] == personas.PERSONAS["heuristic"]["inference"][0]
    assert not np.allclose(personas.to_vector(found), personas.to_vector(personas.PERSONAS["heuristic"]))


def test_a_run_with_other_parameters_is_not_continued(tmp_path: Path) -> None:
    _tune(tmp_path, 1)
    with pytest.raises(ValueError, match="belongs to another run"):
        _tune(tmp_path, 2, games=16)


def test_a_stronger_persona_is_judged_better() -> None:
    vectors = [personas.to_vector(personas.PERSONAS[name]) for name in ("expert", "aggressor")]
    scores = tuning.judge(vectors, ["heuristic"], games=200, seed=5, threads=1)
    assert scores[0] > 1.3 > scores[1]


def test_the_tuned_expert_says_how_it_was_obtained() -> None:
    for file, start in ((personas.EXPERT_FILE, "opportunist"), (personas.DUEL_FILE, "aggressor")):
        about = json.loads(file.read_text())
        assert about["command"].startswith(f"citadels tune --start {start}")
        assert about["check"]["tuned"] > about["check"]["start"]


def test_weights_for_two_players_are_judged_in_games_of_two() -> None:
    assert {scenario.rules.players for scenario in tuning.scenarios(duel=True)} == {2}
    assert {scenario.rules.players for scenario in tuning.scenarios()} == {2, 3, 4, 5, 6, 7, 8}
    vectors = [personas.to_vector(table["expert"]) for table in (personas.DUELS, personas.PERSONAS)]
    duel, many = tuning.judge(vectors, ["aggressor"], games=300, seed=5, threads=1, duel=True)
    assert duel > 1.1 > many


@pytest.mark.slow
def test_the_value_estimate_is_fitted_and_better_than_guessing(tmp_path: Path) -> None:
    found = value.fit("heuristic", games=60, seed=3, out=tmp_path / "value.json")
    assert found["log loss on fresh games"] < found["log loss of guessing"]
    assert json.loads((tmp_path / "value.json").read_text()) == found
    shipped = json.loads(evaluation.FILE.read_text())
    assert set(shipped["coefficients"]) == set(evaluation.FIGURES)
    assert shipped["log loss on fresh games"] < shipped["log loss of guessing"]


def test_the_gradient_of_the_fit_is_the_derivative_of_its_loss() -> None:
    rng = np.random.default_rng(0)
    figures, wins = rng.normal(size=(50, 4, evaluation.N_FIGURES)), np.eye(4)[rng.integers(4, size=50)]
    at = rng.normal(size=evaluation.N_FIGURES)
    _, gradient = value.log_loss(at, [(figures, wins)])
    for k in range(evaluation.N_FIGURES):
        step = np.eye(evaluation.N_FIGURES)[k] * 1e-5
        slope = (value.log_loss(at + step, [(figures, wins)])[0] - value.log_loss(at - step, [(figures, wins)])[0]) / 2e-5
        assert slope == pytest.approx(gradient[k], abs=1e-6)


def test_the_commands_refuse_unknown_personas_in_one_line() -> None:
    for command in (["tune", "--start", "genius"], ["fit-value", "--persona", "genius"]):
        result = CliRunner().invoke(cli.main, command)
        assert result.exit_code != 0
        assert "genius" in result.output
        assert "Traceback" not in result.output
