"""JSON documents from outside: values taken out one by one, with every fault named by its JSON path. Pure."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

LARGEST_COUNT = 10**7
"""Bounds every count, so that sums stay exact in a float."""
_ALIKE = 0.75
"""How alike two keys are that are taken for one, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that cannot be taken: where in the document, and why."""

    path: str
    text: str

    def __str__(self) -> str:
        return one_line(f"{self.path}: {self.text}")


class BadInput(ValueError):
    """The document is not what it should be; ``faults`` names everything that is wrong with it."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


def parse(text: str, *, is_exact: bool = False) -> Any:
    """JSON as it is meant: no key twice, no NaN; ``is_exact``: fractions as decimals. Raises ``BadInput``."""
    twice: list[tuple[dict[str, Any], str]] = []
    constants: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice.extend((found, key) for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        return found

    def constant(name: str) -> Any:
        constants.append(name)
        return float(name)

    fraction = Decimal if is_exact else float
    try:
        document = json.loads(text, object_pairs_hook=once, parse_constant=constant, parse_float=fraction)
    except (ValueError, RecursionError) as error:
        raise BadInput([Fault("$", f"not JSON: {error}")]) from error
    if twice or constants:
        raise BadInput(list(_no_json(document, twice)))
    return document


def digest(document: Any) -> str:
    """SHA-256 over the document in canonical form: sorted keys, no blanks."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


class Taker:
    """Takes values out of a document and notes what is wrong with them; it goes on, to find every fault."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fault(self, path: str, text: str) -> None:
        self.faults.append(Fault(path, text))

    def mapping(self, parent: Mapping[str, Any], key: str, path: str) -> Mapping[str, Any]:
        value = self._get(parent, key, path)
        if isinstance(value, dict):
            return value
        self._not(value, f"{path}.{key}", "an object")
        return _NOTHING

    def rows(self, parent: Mapping[str, Any], key: str, path: str) -> list[tuple[str, Mapping[str, Any]]]:
        """The objects of a list, each with its path."""
        value = self._get(parent, key, path)
        if not isinstance(value, list):
            self._not(value, f"{path}.{key}", "a list")
            return []
        placed = [(f"{path}.{key}[{index}]", row) for index, row in enumerate(value)]
        for at, row in placed:
            if not isinstance(row, dict):
                self.fault(at, f"{shown(row)} is not an object")
        return [(at, row) for at, row in placed if isinstance(row, dict)]

    def text(self, parent: Mapping[str, Any], key: str, path: str) -> str:
        value = self._get(parent, key, path)
        if isinstance(value, str) and value and not has_half(value):
            return value
        self._not(value, f"{path}.{key}", "a text that is not empty")
        return ""

    def count(self, parent: Mapping[str, Any], key: str, path: str) -> int:
        """A whole number from 0."""
        value = self._get(parent, key, path)
        if is_number(value) and value == int(value) and 0 <= value <= LARGEST_COUNT:
            return int(value)
        self._not(value, f"{path}.{key}", f"a whole number from 0 to {LARGEST_COUNT}")
        return 0

    def number(self, parent: Mapping[str, Any], key: str, path: str) -> float:
        value = self._get(parent, key, path)
        if is_number(value):
            return float(value)
        self._not(value, f"{path}.{key}", f"a number from {-_LARGEST:.0e} to {_LARGEST:.0e}")
        return 0.0

    def flag(self, parent: Mapping[str, Any], key: str, path: str) -> bool:
        value = self._get(parent, key, path)
        if isinstance(value, bool):
            return value
        self._not(value, f"{path}.{key}", "true or false")
        return False

    def only(self, row: Mapping[str, Any], at: str, known: tuple[str, ...]) -> None:
        """A key that is nearly one of these is a slip of the pen, such as a pin that would be lost without a word.
        Others are somebody's notes: they are left alone.
        """
        for key in row:
            if key not in known and (meant := get_close_matches(key, known, n=1, cutoff=_ALIKE)):
                self.fault(f"{at}.{key}", f'unknown; perhaps "{meant[0]}" is meant')

    def schema(self, document: Any, expected: str) -> bool:
        """Whether this is an object of that schema; a fault otherwise."""
        if not isinstance(document, dict):
            self.fault("$", f"{shown(document)} is not an object")
            return False
        if document.get("schema") != expected:
            self.fault("$.schema", f'{shown(document.get("schema"))} is not "{expected}"')
        return True

    def _get(self, parent: Mapping[str, Any], key: str, path: str) -> Any:
        if key in parent:
            return parent[key]
        if parent is not _NOTHING:
            self.fault(f"{path}.{key}", "missing")
        return _MISSING

    def _not(self, value: Any, path: str, wanted: str) -> None:
        if value is not _MISSING:
            self.fault(path, f"{shown(value)} is not {wanted}")


def shown(value: Any) -> str:
    """The value as JSON, cut where it is long."""
    written = str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=str)
    text = one_line(written)
    return text if len(text) <= 60 else f"{text[:57]}…"


def one_line(text: str) -> str:
    """With every character that does not print, a line's end before all, as its escape."""
    return "".join(part if part.isprintable() else part.encode("unicode_escape").decode() for part in text)


def has_half(text: str) -> bool:
    """Half of a surrogate pair is JSON, but no text that a file can hold."""
    return any("\ud800" <= part <= "\udfff" for part in text)


def is_number(value: Any) -> bool:
    """A finite number of a size that a float holds exactly enough."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return -_LARGEST <= value <= _LARGEST


def _no_json(document: Any, twice: list[tuple[dict[str, Any], str]]) -> Iterator[Fault]:
    """Where in the document keys are there twice, and numbers that are none."""
    keys: dict[int, list[str]] = {}
    for found, key in twice:
        keys.setdefault(id(found), []).append(key)
    waiting = [("$", document)]
    while waiting:
        at, value = waiting.pop()
        if isinstance(value, dict):
            for key in keys.get(id(value), ()):
                yield Fault(f"{at}.{key}", "this key is there twice in one object")
            waiting += reversed([(f"{at}.{key}", inner) for key, inner in value.items()])
        elif isinstance(value, list):
            waiting += reversed([(f"{at}[{place}]", inner) for place, inner in enumerate(value)])
        elif isinstance(value, float) and not math.isfinite(value):
            yield Fault(at, f"{shown(value)} is not a number that JSON knows")


_LARGEST = 10**15
_MISSING = object()
_NOTHING: Mapping[str, Any] = {}
"""In place of an object that is not there: what it lacks is no fault of its own."""
