"""The heads of the table, and in words by what it is sorted: what a click, and what Shift with it, leads to."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from portal.pages.table.canonical import SHOWN, sort_text
from portal.pages.table.columns import Column

Keys = list[tuple[str, bool]]
Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Head:
    """``place`` is the column's rank among those that sort; 0: it does not. ``also`` adds it as the last."""

    key: str
    label: str
    css: str
    place: int
    is_down: bool
    href: str
    also: str
    without: str


def heads(columns: Sequence[Column], query: QueryDict, sort: Keys) -> list[Head]:
    """One for each of these columns."""
    rest = pairs_of(query, {"sort", "page", "ids"})
    unsorted, start = link(rest), urlencode(rest, safe=",:")

    def sorted_by(keys: Keys) -> str:
        # What the addresses of all heads share is written once: with every column it is a kilobyte.
        if not keys:
            return unsorted
        said = urlencode([("sort", sort_text(keys))], safe=",:")
        return f"{start}&{said}" if start else said

    return [_head(column, sort, sorted_by) for column in columns]


def pairs_of(query: QueryDict, without: Iterable[str] = ()) -> Pairs:
    """What a form of the page has to carry on."""
    left = set(without)
    return [(key, value) for key, values in query.lists() if key not in left for value in values]


def link(pairs: Pairs) -> str:
    """These parts as an address. One that names a view says all itself, even where it asks for nothing."""
    keys = {key for key, _value in pairs}
    if "view" in keys and keys.isdisjoint(SHOWN):
        pairs = [*pairs, ("q", "")]
    return urlencode(pairs, safe=",:")


def address_of(query: QueryDict, without: Iterable[str]) -> str:
    return link(pairs_of(query, without))


def _head(column: Column, sort: Keys, sorted_by: Callable[[Keys], str]) -> Head:
    keys = [key for key, _is_down in sort]
    at = keys.index(column.key) if column.key in keys else None
    is_down = at is not None and sort[at][1]
    turned = (column.key, at is not None and not is_down)
    others = [term for term in sort if term[0] != column.key]
    also = [*sort, turned] if at is None else [*sort[:at], turned, *sort[at + 1 :]]
    return Head(
        key=column.key,
        label=str(column.label),
        css=column.css,
        place=0 if at is None else at + 1,
        is_down=is_down,
        href=sorted_by([turned]),
        also=sorted_by(also),
        without=sorted_by(others),
    )
