"""docs/tutorials/python.ipynb is executed as a reader does, and draws what it says."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).resolve().parents[3] / "docs" / "tutorials" / "python.ipynb"
PNG = b"\x89PNG\r\n\x1a\n"
# The smallest picture with axes is larger; an empty canvas of this size is not.
LEAST_BYTES = 5_000


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The cells with code, executed by this interpreter in a folder of their own."""
    wanted = "; install it to have the notebook executed"
    pytest.importorskip("matplotlib", reason=f"matplotlib is not installed{wanted}")
    pytest.importorskip("ipykernel", reason=f"ipykernel is not installed{wanted}")
    nbformat = pytest.importorskip("nbformat", reason=f"nbformat is not installed{wanted}")
    nbclient = pytest.importorskip("nbclient", reason=f"nbclient is not installed{wanted}")
    manager = pytest.importorskip("jupyter_client.manager").KernelManager()
    # Whatever kernels are installed under the name that the notebook has: this interpreter runs it.
    manager.kernel_spec.argv[0] = sys.executable
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(
        notebook, km=manager, timeout=120, resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env={**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"})
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_no_outputs_are_kept() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


def pictures(cell: Any) -> list[bytes]:
    data = [output.get("data", {}) for output in cell.outputs]
    return [base64.b64decode(each["image/png"]) for each in data if "image/png" in each]


@pytest.mark.parametrize("what", ["plot.s_curve(", "plot.similarity_histogram("])
def test_both_pictures_are_drawn(cells: list[Any], what: str) -> None:
    drawn = [picture for cell in cells if what in cell.source for picture in pictures(cell)]
    assert len(drawn) == 1
    assert drawn[0].startswith(PNG) and len(drawn[0]) > LEAST_BYTES


def test_groups_and_recall_are_shown(cells: list[Any]) -> None:
    shown = "".join(
        output.get("text", "") or output.get("data", {}).get("text/plain", "")
        for cell in cells
        for output in cell.outputs
    )
    assert "FindResult(documents=1000, groups=" in shown
    assert "keeper" in shown
    assert "measured 0.9" in shown or "measured 1.0" in shown
