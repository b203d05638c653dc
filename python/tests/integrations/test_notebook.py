"""Executes docs/tutorials/python.ipynb as a reader does, and compares the output with the stored
output."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "docs" / "tutorials" / "python.ipynb"
PNG = b"\x89PNG\r\n\x1a\n"
# The smallest picture with axes has more bytes, an empty canvas has fewer.
LEAST_BYTES = 5_000


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cells: list[Any]) -> list[str]:
    """Returns the printed text of each cell. Omits tables, which depend on the pandas version."""
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The code cells, executed by this interpreter in a folder with the example documents."""
    hint = "; install it to have the notebook executed"
    for name in ("matplotlib", "pandas", "ipykernel"):
        pytest.importorskip(name, reason=f"{name} is not installed{hint}")
    nbformat = pytest.importorskip("nbformat", reason=f"nbformat is not installed{hint}")
    nbclient = pytest.importorskip("nbclient", reason=f"nbclient is not installed{hint}")
    manager = pytest.importorskip("jupyter_client.manager").KernelManager()
    # This interpreter runs the notebook, even if another kernel has the name that the notebook
    # requests.
    manager.kernel_spec.argv[0] = sys.executable
    folder = tmp_path_factory.mktemp("notebook")
    subprocess.run([sys.executable, ROOT / "examples" / "corpus.py"], cwd=folder, check=True)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(
        notebook, km=manager, timeout=120, resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env={**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"})
    return code_cells(notebook)


def test_stored_outputs_are_printed(cells: list[Any]) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert printed(code_cells(notebook)) == printed(cells)
    assert "FindResult(documents=5000, groups=562, duplicates=600)" in "".join(printed(cells))


def pictures(cell: Any) -> list[bytes]:
    data = [output.get("data", {}) for output in cell.outputs]
    return [base64.b64decode(each["image/png"]) for each in data if "image/png" in each]


def test_the_histogram_is_drawn(cells: list[Any]) -> None:
    drawn = [each for cell in cells if "plot.similarity_" in cell.source for each in pictures(cell)]
    assert len(drawn) == 1
    assert drawn[0].startswith(PNG) and len(drawn[0]) > LEAST_BYTES
