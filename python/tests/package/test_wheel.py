"""The installed package: files, metadata, and the cost of an import."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import lookalike

PACKAGE = Path(lookalike.__file__).parent
SOURCES = Path(__file__).resolve().parents[2]
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-datasketch"]


@pytest.fixture
def installed() -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution("lookalike")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the wheel is not installed here; cargo x python does it")


def test_metadata(installed: importlib.metadata.Distribution) -> None:
    metadata = installed.metadata
    assert metadata["Version"] == lookalike.__version__
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == "(MIT OR Apache-2.0) AND MIT"
    assert sorted(metadata.get_all("License-File", [])) == LICENCES
    assert "```python" in installed.read_text("METADATA")  # the readme
    assert not installed.requires, "the package needs nothing but Python"
    scripts = [entry for entry in installed.entry_points if entry.group == "console_scripts"]
    assert [(entry.name, entry.value) for entry in scripts] == [
        ("lookalike", "lookalike.__main__:main")
    ]


def test_wheel_lists_tested_versions(installed: importlib.metadata.Distribution) -> None:
    classifiers = installed.metadata.get_all("Classifier", [])
    versions = {
        name
        for name in classifiers
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", name)
    }
    tested = [
        line
        for line in (SOURCES / "README.md").read_text().splitlines()
        if line.startswith("| CPython 3.")
    ]
    named = {version for line in tested for version in re.findall(r"3\.\d+", line.split("|")[1])}
    assert (
        versions == {f"Programming Language :: Python :: {version}" for version in named}
        and len(versions) > 1
    )
    assert [name for name in classifiers if name.startswith("Operating System")] == [
        "Operating System :: POSIX :: Linux"
    ]
    assert not [name for name in classifiers if "Free Threading" in name], (
        "the module needs the lock"
    )


def test_wheel_tags_use_stable_abi(installed: importlib.metadata.Distribution) -> None:
    tags = [line for line in installed.read_text("WHEEL").splitlines() if line.startswith("Tag:")]
    assert all(tag.startswith("Tag: cp310-abi3-") for tag in tags), tags


def test_files(installed: importlib.metadata.Distribution) -> None:
    names = {str(file) for file in installed.files or []}
    for name in (
        "__init__.py",
        "_engine.pyi",
        "py.typed",
        "errors.py",
        "__main__.py",
        "plot/tables.py",
    ):
        assert f"lookalike/{name}" in names
    assert not [name for name in names if "test" in name], "tests are no part of the wheel"
    licences = [name for name in names if "licenses/LICENSE-" in name]
    assert sorted(Path(name).name for name in licences) == LICENCES
    for name in licences:
        assert installed.locate_file(name).read_text() == (SOURCES / Path(name).name).read_text()


def test_datasketch_licence_is_included() -> None:
    distribution = importlib.metadata.distribution("datasketch")
    (file,) = (
        file
        for file in distribution.files or []
        if file.name == "LICENSE" and "licenses" in file.parts
    )
    text = (SOURCES / "LICENSE-datasketch").read_text()
    assert text.endswith(Path(str(distribution.locate_file(file))).read_text())
    for name in ("hyperloglog_bias.csv", "hyperloglog_const.py"):
        assert f"lookalike/datasketch/{name}" in text and (PACKAGE / "datasketch" / name).is_file()


def test_import_loads_only_standard_modules() -> None:
    code = (
        "import sys; before = set(sys.modules); import lookalike; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    modules = run(code).split()
    heavy = {
        "numpy",
        "pyarrow",
        "pandas",
        "polars",
        "duckdb",
        "datasets",
        "tqdm",
        "asyncio",
        "matplotlib",
        "altair",
        "sklearn",
    }
    assert not heavy & set(modules)
    others = set(modules) - {"lookalike"} - sys.stdlib_module_names
    assert not others, "modules that are no part of Python"


def test_import_defers_standard_modules() -> None:
    """Modules that only some functions need are not imported with the package, because they take
    most of the time of an import."""
    code = "import sys; before = set(sys.modules); import lookalike; print(*sorted(set(sys.modules) - before))"
    modules = set(run(code).split())
    late = {
        "asyncio",
        "concurrent.futures",
        "csv",
        "difflib",
        "email",
        "glob",
        "html",
        "http",
        "importlib.metadata",
        "logging",
        "multiprocessing",
        "pickle",
        "random",
        "shutil",
        "socket",
        "sqlite3",
        "subprocess",
        "tempfile",
        "threading",
        "unittest",
        "xml",
    }
    # From Python 3.14 on, pathlib imports glob.
    late -= set(run("import sys; import pathlib; print(*sys.modules)").split())
    assert len(late) > 10 and not late & modules
    own = {
        "_notebook",
        "_worker",
        "aio",
        "datasketch",
        "pandas",
        "plot",
        "polars",
        "ray",
        "sklearn",
        "spark",
        "stages",
    }
    assert not {f"lookalike.{name}" for name in own} & modules


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_source_distribution_is_whole(tmp_path: Path) -> None:
    pytest.importorskip("maturin", reason="maturin makes the source distribution")
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(command, cwd=SOURCES, check=True, capture_output=True)
    (file,) = tmp_path.glob("lookalike-*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {"PKG-INFO", "pyproject.toml", "Cargo.toml", "Cargo.lock", "python/Cargo.toml"}
    crates = [path.parent.name for path in (SOURCES.parent / "crates").glob("*/Cargo.toml")]
    expected |= {f"crates/{name}/Cargo.toml" for name in crates}
    expected |= {"lookalike/_engine.pyi", "lookalike/py.typed", *LICENCES}
    assert len(crates) > 5
    assert expected <= names, expected - names
    assert not [name for name in names if name.endswith(".so")]
