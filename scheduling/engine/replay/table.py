"""Rows of a CSV file, with every fault named by its line and column. Pure."""

import csv
import io
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from kernel.documents import LARGEST_COUNT, Fault, shown
from scheduling.engine.model import MILLI
from scheduling.engine.scenario.taking import DECIMALS, decimals

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}
_LATEST = 10**12


class Table:
    """``rows`` are (line, row). A column that is missing or a row of another length is a fault of the file."""

    def __init__(self, name: str, text: str, needed: Sequence[str], faults: list[Fault]) -> None:
        self._name = name
        self._faults = faults
        reader = csv.DictReader(io.StringIO(text), strict=True)
        self.columns = [column.strip() for column in self._header(reader)]
        reader.fieldnames = self.columns
        for column in needed:
            if column not in self.columns:
                self.fault(1, column, f"missing; the columns are {', '.join(self.columns) or 'none'}")
        self.rows = [] if self._has_faults() else list(self._rows(reader))

    def fault(self, line: int, column: str, text: str) -> None:
        self._faults.append(Fault(f"{self._name} line {line}, {column}", text))

    def _has_faults(self) -> bool:
        return any(fault.path.startswith(self._name) for fault in self._faults)

    def _header(self, reader: "csv.DictReader[str]") -> Sequence[str]:
        try:
            return reader.fieldnames or ()
        except csv.Error as error:
            self.fault(1, "header", f"not CSV: {error}")
            return ()

    def _rows(self, reader: "csv.DictReader[str]") -> Iterator[tuple[int, dict[str, str]]]:
        try:
            for row in reader:
                values: dict[Any, Any] = row
                if None in values or None in values.values():
                    less = "more" if None in values else "fewer"
                    self.fault(reader.line_num, "row", f"{less} values than the {len(self.columns)} columns")
                else:
                    yield reader.line_num, row
        except csv.Error as error:
            self.fault(reader.reader.line_num, "row", f"not CSV: {error}")


class RowTaker:
    """Takes the values of one row; an empty one is the default, where there is one."""

    def __init__(self, table: Table, line: int, row: dict[str, str]) -> None:
        self._table = table
        self._line = line
        self._row = row

    def fault(self, column: str, text: str) -> None:
        self._table.fault(self._line, column, text)

    def raw(self, column: str) -> str:
        return self._row.get(column, "").strip()

    def text(self, column: str) -> str:
        value = self.raw(column)
        if not value:
            self.fault(column, "empty; a name is needed")
        return value

    def names(self, column: str) -> frozenset[str]:
        """With ``|`` between them."""
        return frozenset(filter(None, (name.strip() for name in self.raw(column).split("|"))))

    def flag(self, column: str) -> bool:
        value = self.raw(column).lower()
        if value not in _FLAGS:
            self.fault(column, f"{shown(self.raw(column))} is not true or false")
        return _FLAGS.get(value, False)

    def count(self, column: str, default: int | None = None, least: int = 0) -> int:
        value = self._number(column, default, f"a whole number from {least} to {LARGEST_COUNT}")
        if value is None:
            return default or least
        if value == int(value) and least <= value <= LARGEST_COUNT:
            return int(value)
        self.fault(column, f"{shown(self.raw(column))} is not a whole number from {least} to {LARGEST_COUNT}")
        return least

    def whole(self, column: str) -> int:
        """Of either sign; 0 where empty."""
        allowed = f"a whole number from -{LARGEST_COUNT} to {LARGEST_COUNT}"
        value = self._number(column, 0, allowed)
        if value is not None and (value != int(value) or abs(value) > LARGEST_COUNT):
            self.fault(column, f"{shown(self.raw(column))} is not {allowed}")
            return 0
        return int(value or 0)

    def seconds(self, column: str, *, is_needed: bool) -> float | None:
        """From 0; None where empty."""
        allowed = f"a number of seconds from 0 to {_LATEST}"
        value = self._number(column, None if is_needed else 0, allowed)
        if value is None:
            return None
        if 0 <= value <= _LATEST:
            return int(value) if value == int(value) else float(value)
        self.fault(column, f"{shown(self.raw(column))} is not {allowed}")
        return None

    def milli(self, column: str) -> int:
        """GPUs, or a part of one, in milli-GPU."""
        allowed = f"a number of GPUs from 0 to {LARGEST_COUNT} with at most 3 decimals"
        value = self._number(column, None, allowed)
        if value is None:
            return 0
        if 0 <= value <= LARGEST_COUNT and value * MILLI == int(value * MILLI):
            return int(value * MILLI)
        self.fault(column, f"{shown(self.raw(column))} is not {allowed}")
        return 0

    def _number(self, column: str, default: int | None, allowed: str) -> Decimal | None:
        """None where empty, or no number at all, with a fault where one is needed."""
        written = self.raw(column)
        if not written and default is not None:
            return None
        try:
            value = Decimal(written)
        except InvalidOperation:
            value = Decimal("NaN")
        if value.is_finite() and -_LATEST <= value <= _LATEST and decimals(value) <= DECIMALS:
            return value
        self.fault(column, f"{shown(written)} is not {allowed}" if written else f"empty; {allowed} is needed")
        return None
