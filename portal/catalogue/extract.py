"""Every message of the code: calls of Django's gettext family in Python, and what templates mark as translatable."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.extract import extract_python
from django.utils.translation.template import templatize

TRANSLATION_MODULE = "django.utils.translation"
# Which arguments of each function are texts, by name: first a context where there is one, then one or two messages.
_PARTS = {
    "gettext": ("singular",),
    "gettext_lazy": ("singular",),
    "gettext_noop": ("singular",),
    "ngettext": ("singular", "plural"),
    "ngettext_lazy": ("singular", "plural"),
    "pgettext": ("context", "singular"),
    "pgettext_lazy": ("context", "singular"),
    "npgettext": ("context", "singular", "plural"),
    "npgettext_lazy": ("context", "singular", "plural"),
}
_SKIPPED = frozenset({"tests", "migrations", "__pycache__"})
# The calls that ``templatize`` writes, as Babel wants to be told of them.
_IN_TEMPLATES: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}


class NotLiteral(ValueError):
    """A message that is put together at run time: no catalogue can hold it."""


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """One message and the file that says it."""

    singular: str
    plural: str = ""
    context: str = ""
    source: str = ""


def extract(root: Path, rooms: Iterable[str]) -> list[Message]:
    """All messages of these packages and of the templates, sorted. Raises ``NotLiteral`` naming the place."""
    found: set[Message] = set()
    for room in rooms:
        for path in sorted((root / room).rglob("*.py")):
            if _SKIPPED.isdisjoint(path.relative_to(root).parts):
                found.update(of_python(path.read_text(encoding="utf-8"), str(path.relative_to(root))))
    for path in sorted((root / "templates").rglob("*.html")):
        found.update(of_template(path.read_text(encoding="utf-8"), str(path.relative_to(root))))
    return sorted(found)


def of_python(code: str, source: str = "") -> Iterator[Message]:
    """Messages of one module, whatever names it gives to the functions it imports."""
    tree = ast.parse(code)
    names = {
        alias.asname or alias.name: _PARTS[alias.name]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == TRANSLATION_MODULE
        for alias in node.names
        if alias.name in _PARTS
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            parts = names[node.func.id]
            texts = [_literal(argument, source) for argument in node.args[: len(parts)]]
            yield Message(**dict(zip(parts, texts, strict=True)), source=source)


def _literal(node: ast.expr, source: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NotLiteral(f"{source}:{node.lineno}: a message must be a plain text, not {ast.unparse(node)}")


def of_template(text: str, source: str = "") -> Iterator[Message]:
    """Messages of one template. What is no message is blanked out first; in brackets, indentation means nothing."""
    code = BytesIO(f"({templatize(text, source)})".encode())
    for _line, function, texts, _comments in extract_python(code, _IN_TEMPLATES, (), {"encoding": "utf-8"}):
        parts = _PARTS["gettext" if function == "_" else str(function)]
        given: Any = texts
        several = given if isinstance(given, tuple) else (given,)
        yield Message(**dict(zip(parts, [str(text) for text in several if text], strict=False)), source=source)
