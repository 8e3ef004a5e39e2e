"""The notebooks run from top to bottom, on few games."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jupytext
import nbclient
import pytest
from jupyter_client import AsyncKernelManager

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, monkeypatch):
    root = path.parent.parent
    search = [str(root), str(root / "agents"), str(root / "experiments")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*search, *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.setenv("CITADELS_NOTEBOOK_GAMES", "60")
    notebook = jupytext.read(path)
    # the kernel of this interpreter, whatever kernels are installed for the user
    manager = AsyncKernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    client = nbclient.NotebookClient(notebook, km=manager, timeout=300, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any(output.output_type == "stream" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.output_type == "error" for output in outputs)


@pytest.mark.slow
def test_jupytext_executes_a_notebook_from_the_command_line(tmp_path):
    pytest.importorskip("nbconvert", reason="of the extra `notebooks`")
    root = NOTEBOOKS[0].parent.parent
    search = os.pathsep.join([*(str(root / part) for part in (".", "agents", "experiments"))])
    environment = {**os.environ, "PYTHONPATH": search, "CITADELS_NOTEBOOK_GAMES": "60"}
    shutil.copy(NOTEBOOKS[0], tmp_path)
    command = [sys.executable, "-m", "jupytext", "--to", "ipynb", "--execute", NOTEBOOKS[0].name]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    notebook = json.loads((tmp_path / NOTEBOOKS[0].name).with_suffix(".ipynb").read_text(encoding="utf-8"))
    assert any("image/png" in output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", []))


def test_the_extra_for_notebooks_holds_all_that_jupytext_needs_to_execute():
    project = tomllib.loads((NOTEBOOKS[0].parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert {"jupytext", "nbconvert", "ipykernel"} <= set(project["project"]["optional-dependencies"]["notebooks"])


def test_there_are_notebooks():
    assert NOTEBOOKS
