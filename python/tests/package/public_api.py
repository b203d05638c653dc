"""Reads the public names of the package and their signatures from its sources, so that no optional
package is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "lookalike"
MODULES = (
    "lookalike",
    "lookalike.aio",
    "lookalike.audit_stages",
    "lookalike.datasketch",
    "lookalike.errors",
    "lookalike.pandas",
    "lookalike.plot",
    "lookalike.plot.tables",
    "lookalike.polars",
    "lookalike.ray",
    "lookalike.sklearn",
    "lookalike.spark",
    "lookalike.stages",
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Definition:
    """A definition with its module."""

    module: str
    node: ast.stmt


def source(module: str) -> Path | None:
    """Returns the file of a module of the package, or the stub of a compiled module; ``None`` for
    modules of other packages."""
    if module.partition(".")[0] != "lookalike":
        return None
    place = PACKAGE.joinpath(*module.split(".")[1:])
    package, plain = place / "__init__.py", place.with_suffix(".py")
    paths = (package,) if place == PACKAGE else (place.with_suffix(".pyi"), plain, package)
    return next((path for path in paths if path.is_file()), None)


def public_names(module: str) -> list[str]:
    """Returns the names in ``__all__`` of a module."""
    for statement in _tree(module).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(statement.value)
            return names
    raise AssertionError(f"{module} has no __all__")


@cache
def _tree(module: str) -> ast.Module:
    path = source(module)
    assert path is not None, module
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(module: str) -> list[ast.stmt]:
    """Returns the statements of a module, including imports that only type checkers execute."""
    found: list[ast.stmt] = []
    for statement in _tree(module).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            found += statement.body
        else:
            found.append(statement)
    return found


@cache
def definition(module: str, name: str) -> Definition | None:
    """Returns the definition of a name of a module, such as ``MinHash`` or ``_native.Tables``;
    ``None`` for names of other packages.
    """
    if source(module) is None:
        return None
    first, _, rest = name.partition(".")
    for statement in statements(module):
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                imported = f"{statement.module}.{alias.name}"
                if (alias.asname or alias.name) == first:
                    if source(imported) is None:
                        return definition(statement.module or "", alias.name)
                    return definition(imported, rest) if rest else None
        elif name in defined_names(statement):
            return Definition(module, statement)
    return None


def defined_names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return [statement.name]
    if isinstance(statement, ast.AnnAssign):
        return [ast.unparse(statement.target)]
    if isinstance(statement, ast.Assign):
        return [ast.unparse(target) for target in statement.targets]
    return []


def public_api() -> Iterator[str]:
    """Yields a line for each public name and for each public member of a public class."""
    for module in MODULES:
        for name in sorted(public_names(module)):
            yield from _lines(f"{module}.{name}", definition(module, name))


def _lines(name: str, found: Definition | None) -> Iterator[str]:
    if found is None:
        yield name
    elif isinstance(found.node, ast.ClassDef):
        yield f"class {name}"
        yield from sorted(set(_members(name, found, set())))
    elif isinstance(found.node, _Function):
        yield f"{name}{_signature(found.node)}"
    elif isinstance(found.node, ast.AnnAssign) and "TypeAlias" not in ast.unparse(
        found.node.annotation
    ):
        yield f"{name}: {ast.unparse(found.node.annotation)}"
    else:
        yield name


def _members(name: str, found: Definition, seen: set[str]) -> Iterator[str]:
    """Yields the members of a class, including members inherited from classes of the package."""
    assert isinstance(found.node, ast.ClassDef)
    for member in found.node.body:
        for defined in defined_names(member):
            is_public = not defined.startswith("_") or defined in ("__init__", "__new__")
            if not is_public or defined in seen:
                continue
            yield f"  {name}.{_member(defined, member)}"
    seen |= {defined for member in found.node.body for defined in defined_names(member)}
    if "__init__" in seen:
        # Omits `__new__` of a compiled base class, which accepts any arguments.
        seen.add("__new__")
    for base in found.node.bases:
        base_name = ast.unparse(base).partition("[")[0]
        inherited = definition(found.module, base_name)
        if inherited is not None and isinstance(inherited.node, ast.ClassDef):
            yield from _members(name, inherited, seen)


def _member(name: str, member: ast.stmt) -> str:
    if isinstance(member, _Function):
        decorators = {ast.unparse(decorator) for decorator in member.decorator_list}
        if "property" in decorators:
            return f"{name}: {ast.unparse(member.returns) if member.returns else 'Any'}"
        return f"{name}{_signature(member)}"
    if isinstance(member, ast.AnnAssign):
        return f"{name}: {ast.unparse(member.annotation)}"
    return name


def _signature(function: _Function) -> str:
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"({ast.unparse(function.args)}){returns}"
