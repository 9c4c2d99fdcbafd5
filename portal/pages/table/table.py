"""The table as data: the same for the screen and for its export."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts.models import Person
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import local_day, organisation_zone
from portal.pages.table import address, rows
from portal.pages.table.columns import DEFAULT, GROUPS, Column, columns
from portal.pages.table.moment import Moment
from portal.pages.table.rows import Row
from projects.policies import visible_to

ON_A_PHONE = frozenset({"name", "used", "state", "milestone"})
VENDORS = ("NVIDIA ", "AMD Instinct ", "AMD ")
"""Left out of a column's head: the model's own name says it all, and a head has 40 pixels."""


@dataclass(frozen=True, slots=True)
class Table:
    """``everything`` is all that the person may know of, ``rows`` what fits, in order."""

    asked: address.Asked
    everything: Sequence[Row]
    rows: Sequence[Row]
    columns: Sequence[Column]
    at: Moment
    gpu_models: Mapping[str, str]
    """Every model of the catalogue with its short title."""

    def sums(self) -> list[tuple[str, str]]:
        """Class and text of each cell of the row of sums. The cell before a group of models says what they sum."""
        after = [column.group for column in self.columns[1:]] + [""]
        return [
            (self.css_of(column), column.total(self.rows, self.at))
            if column.total
            else (f"{self.css_of(column)} end", _caption(following) if following != column.group else "")
            for column, following in zip(self.columns, after, strict=True)
        ]

    @property
    def has_simulated(self) -> bool:
        """Whether any figure stands for GPUs that are not there."""
        return any(row.utilisation is not None and row.utilisation.is_simulated for row in self.rows)

    def css_of(self, column: Column) -> str:
        """The classes of a column's cells. A phone shows few of the usual columns, and all that somebody chose."""
        is_minor = self.asked.columns == DEFAULT and column.key not in ON_A_PHONE
        return f"{cell_class(column)} is-minor" if is_minor else cell_class(column)

    def body(self, page: Sequence[Row]) -> SafeString:
        """The rows of a page as markup; every cell is escaped where it is made."""
        return mark_safe("".join(self._lines(page)))  # noqa: S308

    def _lines(self, page: Sequence[Row]) -> Iterator[str]:
        name, *rest = self.columns
        opened = [(column.cell, f'<td class="{escape(self.css_of(column))}">') for column in rest]
        head = f'<th scope="row" class="{name.css}">'
        for row in page:
            cells = "".join([f"{start}{cell(row, self.at)}</td>" for cell, start in opened])
            figures = f'data-used="{row.total.used:g}" data-guaranteed="{row.total.guaranteed}"'
            yield f"<tr {figures}>{head}{name.cell(row, self.at)}</th>{cells}</tr>"


def cell_class(column: Column) -> str:
    """A head in a model's hue is a head only."""
    return column.css.split("is-model")[0].strip()


def _caption(group: str) -> str:
    return {"guaranteed": _("guaranteed"), "used": _("used"), "limit": _("limit")}[GROUPS[group][1]] if group else ""


def table_for(person: Person, query: QueryDict) -> Table:
    """Raises ``Invalid`` for what the address may not ask."""
    asked, visible = address.read(query), visible_to(person)
    matching = address.narrowed(query, visible) if asked.is_filtered else None
    everything = rows.registry_rows(visible, matching)
    found = [row for row in everything if row.facts["is_match"] and (not asked.ids or row.pk in asked.ids)]
    models = list(GpuModel.objects.order_by("name").values_list("pk", "name", "title"))
    rows.complete(found, asked.needs, {pk: name for pk, name, _title in models})
    now = clock.now()
    at = Moment(now, local_day(now), organisation_zone(), get_language() or "")
    ordered = address.in_order(found, asked.sort)
    titles = {name: _short(title) or name for _pk, name, title in models}
    held = {name: title for name, title in titles.items() if any(name in row.models for row in found)}
    return Table(asked, everything, ordered, columns(asked.columns, held), at, titles)


def _short(title: str) -> str:
    return next((title.removeprefix(vendor) for vendor in VENDORS if title.startswith(vendor)), title)
