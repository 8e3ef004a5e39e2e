"""The notebooks run from top to bottom, on few games."""

import os
import sys
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


def test_there_are_notebooks():
    assert NOTEBOOKS
