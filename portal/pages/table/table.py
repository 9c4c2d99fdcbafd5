"""The table as data: the same for the screen and for its export."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from accounts.models import Person
from kernel import clock
from kernel.calendar import local_day, organisation_zone
from portal.pages.table import address, rows
from portal.pages.table.columns import Column, Moment, columns
from portal.pages.table.rows import Row
from projects.policies import visible_to


@dataclass(frozen=True, slots=True)
class Table:
    """``everything`` is all that the person may know of, ``rows`` what fits, in order."""

    asked: address.Asked
    everything: Sequence[Row]
    rows: Sequence[Row]
    columns: Sequence[Column]
    at: Moment

    @property
    def gpu_models(self) -> list[str]:
        return _models(self.rows)

    def sums(self) -> list[tuple[str, str]]:
        """Class and text of each cell of the row of sums."""
        return [(column.css, column.total(self.rows, self.at) if column.total else "") for column in self.columns]

    def body(self, page: Sequence[Row]) -> SafeString:
        """The rows of a page as markup; every cell is escaped where it is made."""
        return mark_safe("".join(self._lines(page)))  # noqa: S308

    def _lines(self, page: Sequence[Row]) -> Iterator[str]:
        name, *rest = self.columns
        opened = [(column.cell, f'<td class="{escape(cell_class(column))}">') for column in rest]
        head = f'<th scope="row" class="{name.css}">'
        for row in page:
            cells = "".join([f"{start}{cell(row, self.at)}</td>" for cell, start in opened])
            figures = f'data-used="{row.total.used:g}" data-guaranteed="{row.total.guaranteed}"'
            yield f"<tr {figures}>{head}{name.cell(row, self.at)}</th>{cells}</tr>"


def cell_class(column: Column) -> str:
    """A head in a model's hue is a head only."""
    return column.css.split("is-model")[0].strip()


def table_for(person: Person, query: QueryDict) -> Table:
    """Raises ``Invalid`` for what the address may not ask."""
    asked, visible = address.read(query), visible_to(person)
    matching = address.narrowed(query, visible) if asked.is_filtered else None
    everything = rows.registry_rows(visible, matching)
    found = [row for row in everything if row.facts["is_match"] and (not asked.ids or row.pk in asked.ids)]
    rows.complete(found, asked.needs)
    now = clock.now()
    at = Moment(now, local_day(now), organisation_zone(), get_language() or "")
    ordered = address.in_order(found, asked.sort)
    return Table(asked, everything, ordered, columns(asked.columns, _models(found)), at)


def _models(found: Sequence[Row]) -> list[str]:
    return sorted({name for row in found for name in row.models})
