"""The house's limits, counted. What exceeds one stands in ``limits.toml`` with its reason, and that list only shrinks.

A limit there is a ceiling for one place: the place may shrink below it, never grow above it, and an entry that is no
longer needed is itself a finding.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from portal.setup.places import ROOT

LIMITS = {"file-lines": 400, "function-lines": 40, "arguments": 6, "task-lines": 15, "template-lines": 100}
FORBIDDEN_NAMES = frozenset({"utils.py", "helpers.py", "misc.py", "common.py"})
SKIPPED = frozenset({".venv", "node_modules", "staticfiles", "var", ".git", "migrations", "test-results"})
EXCEPTIONS = ROOT / "limits.toml"
_REASON_LENGTH = 15


@dataclass(frozen=True, slots=True, order=True)
class Excess:
    """One place that is over a limit. ``where`` is a path, or ``path::qualified.name``."""

    where: str
    limit: str
    value: int


@dataclass(frozen=True, slots=True)
class Exemption:
    """One entry of the list of exceptions."""

    where: str
    limit: str
    ceiling: int
    reason: str


def main() -> int:
    """Print what is wrong; 0 if nothing is."""
    findings = [*judge(sorted(measure(ROOT)), exemptions()), *forbidden_names(ROOT)]
    for finding in findings:
        sys.stdout.write(f"{finding}\n")
    return 1 if findings else 0


def exemptions() -> list[Exemption]:
    """The committed list."""
    entries = tomllib.loads(EXCEPTIONS.read_text()).get("exception", [])
    return [Exemption(entry["where"], entry["limit"], entry["ceiling"], entry["reason"]) for entry in entries]


def judge(found: list[Excess], allowed: list[Exemption]) -> Iterator[str]:
    """Every excess without an exception, every exception without an excess, every missing reason."""
    ceilings = {(entry.where, entry.limit): entry for entry in allowed}
    for excess in found:
        entry = ceilings.pop((excess.where, excess.limit), None)
        bound = LIMITS[excess.limit] if entry is None else entry.ceiling
        if excess.value > bound:
            yield f"{excess.where}: {excess.value} {excess.limit}, allowed {bound}"
        if entry is not None and len(entry.reason) < _REASON_LENGTH:
            yield f"{EXCEPTIONS.name}: {entry.where} needs a reason"
    for entry in ceilings.values():
        yield f"{EXCEPTIONS.name}: {entry.where} ({entry.limit}) is no longer needed; remove it"


def measure(root: Path) -> Iterator[Excess]:
    """All places over a limit, exceptions not considered."""
    for path in _files(root, "*.py"):
        yield from _python_file(path, path.relative_to(root).as_posix())
    for path in _files(root / "templates", "*.html"):
        yield from _over(path.relative_to(root).as_posix(), "template-lines", _lines(path))


def forbidden_names(root: Path) -> Iterator[str]:
    """Files whose name says nothing."""
    for path in _files(root, "*.py"):
        if path.name in FORBIDDEN_NAMES:
            yield f"{path.relative_to(root)}: name the file after what it holds"


def _files(root: Path, pattern: str) -> list[Path]:
    found = root.rglob(pattern)
    return sorted(path for path in found if not SKIPPED.intersection(path.relative_to(root).parts))


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _over(where: str, limit: str, value: int) -> Iterator[Excess]:
    if value > LIMITS[limit]:
        yield Excess(where, limit, value)


def _python_file(path: Path, name: str) -> Iterator[Excess]:
    yield from _over(name, "file-lines", _lines(path))
    for qualified, function in functions(ast.parse(path.read_text(encoding="utf-8")), ""):
        where = f"{name}::{qualified}"
        length = (function.end_lineno or function.lineno) - function.lineno + 1
        yield from _over(where, "function-lines", length)
        if "tests" not in path.parts:
            yield from _over(where, "arguments", _arguments(function))
        if _is_task(function):
            yield from _over(where, "task-lines", length)


def functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions below a node with their qualified names, inner ones too."""
    for node in ast.iter_child_nodes(tree):
        inner = prefix
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inner = f"{prefix}{node.name}."
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
        yield from functions(node, inner)


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def _is_task(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Decorated with ``shared_task`` or ``app.task``, called or not."""
    for decorator in function.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name in ("shared_task", "task"):
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
