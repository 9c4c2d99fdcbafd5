"""What the documents of the scheduler hold besides plain JSON: parts of GPUs, exact decimals, fields that may miss.

A field that is null is absent.
"""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from kernel.documents import LARGEST_COUNT, Taker, has_half, is_number, shown
from scheduling.engine.model import MILLI, Amounts

Row = Mapping[str, Any]
Seconds = float
Choice = TypeVar("Choice", bound=StrEnum)

MEBIBYTE = 2**20
DECIMALS = 12
"""Bounds exact numbers, so that they stay small fractions."""


def is_absent(row: Row, key: str) -> bool:
    return row.get(key) is None


class SchedulerTaker(Taker):
    """Takes the values of scenarios and of policies of a replay."""

    def optional_rows(self, parent: Row, key: str, path: str) -> list[tuple[str, Row]]:
        return [] if is_absent(parent, key) else self.rows(parent, key, path)

    def optional_mapping(self, parent: Row, key: str, path: str) -> Row:
        return {} if is_absent(parent, key) else self.mapping(parent, key, path)

    def optional_text(self, parent: Row, key: str, path: str) -> str:
        return "" if parent.get(key) in (None, "") else self.text(parent, key, path)

    def optional_flag(self, parent: Row, key: str, path: str) -> bool:
        return False if is_absent(parent, key) else self.flag(parent, key, path)

    def optional_count(self, parent: Row, key: str, path: str, default: int = 0) -> int:
        return default if is_absent(parent, key) else self.count(parent, key, path)

    def whole(self, parent: Row, key: str, path: str) -> int:
        """A whole number of either sign; 0 where absent."""
        value: Any = parent.get(key)
        if value is None:
            return 0
        if is_number(value) and value == int(value) and abs(value) <= LARGEST_COUNT:
            return int(value)
        self.fault(f"{path}.{key}", f"{shown(value)} is not a whole number from -{LARGEST_COUNT} to {LARGEST_COUNT}")
        return 0

    def seconds(self, parent: Row, key: str, path: str) -> Seconds | None:
        """An instant; None where absent."""
        value: Any = parent.get(key)
        if value is None:
            return None
        if is_number(value):
            return int(value) if value == int(value) else float(value)
        self.fault(f"{path}.{key}", f"{shown(value)} is not a number of seconds")
        return None

    def duration(self, parent: Row, key: str, path: str) -> Seconds | None:
        """From 0; None where absent."""
        value = self.seconds(parent, key, path)
        if value is not None and value < 0:
            self.fault(f"{path}.{key}", f"{shown(parent[key])} is less than 0 seconds")
        return value

    def exact(self, parent: Row, key: str, path: str, default: int) -> Fraction:
        """A number from 0, as the decimal that is written."""
        value: Any = parent.get(key)
        if value is None:
            return Fraction(default)
        if is_number(value) and value >= 0 and decimals(value) <= DECIMALS:
            return Fraction(value)
        self.fault(f"{path}.{key}", f"{shown(value)} is not a number from 0 with at most {DECIMALS} decimals")
        return Fraction(default)

    def milli(self, parent: Row, key: str, path: str) -> int:
        """GPUs, or a part of one, in milli-GPU."""
        value: Any = self._get(parent, key, path)
        if is_number(value) and 0 <= value <= LARGEST_COUNT and decimals(value) <= 3:
            return int(Fraction(value) * MILLI)
        self._not(value, f"{path}.{key}", f"a number of GPUs from 0 to {LARGEST_COUNT} with at most 3 decimals")
        return 0

    def amounts(self, parent: Row, key: str, path: str) -> Amounts:
        """GPUs by model; a model that is null is absent."""
        row = self.optional_mapping(parent, key, path)
        return {model: self.milli(row, model, f"{path}.{key}") for model in row if row[model] is not None}

    def choice(self, parent: Row, key: str, path: str, default: Choice) -> Choice:
        value: Any = parent.get(key)
        kind = type(default)
        if value is None:
            return default
        if isinstance(value, str) and value in set(kind):
            return kind(value)
        self.fault(f"{path}.{key}", f"{shown(value)} is not one of {', '.join(kind)}")
        return default

    def texts(self, parent: Row, key: str, path: str) -> list[str]:
        """A list of texts; empty where absent."""
        value: Any = parent.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.fault(f"{path}.{key}", f"{shown(value)} is not a list")
            return []
        for index, part in enumerate(value):
            if not _is_text(part):
                self.fault(f"{path}.{key}[{index}]", f"{shown(part)} is not a text that is not empty")
        return [part for part in value if _is_text(part)]

    def named(self, rows: list[tuple[str, Row]], key: str) -> list[tuple[str, str, Row]]:
        """Rows with their names, each name once; a row without a name is left out with its fault."""
        seen: set[str] = set()
        found = []
        for at, row in rows:
            name = self.text(row, key, at)
            if name and name in seen:
                self.fault(f"{at}.{key}", f"{shown(name)} is there twice")
            elif name:
                found.append((name, at, row))
            seen.add(name)
        return found

    def known(self, parent: Row, key: str, path: str, numbers: Mapping[str, int]) -> int:
        """The number of a name that must be among these; 0 with a fault otherwise."""
        name = self.text(parent, key, path)
        if name and name not in numbers:
            self.fault(f"{path}.{key}", f"{shown(name)} is not among {listed(numbers)}")
        return numbers.get(name, 0)


def listed(names: Mapping[str, Any]) -> str:
    """What is allowed, in a few words."""
    first = sorted(names)[:5]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{', '.join(map(shown, first))}{more}" if first else "any, for there are none"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != "" and not has_half(value)


def decimals(value: int | float | Decimal) -> int:
    """Digits after the point that matter."""
    exact = value if isinstance(value, Decimal) else Decimal(str(value))
    return -int(exact.normalize().as_tuple().exponent)
