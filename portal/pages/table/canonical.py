"""One way of writing each address of the table, so that two that show the same are the same text; and its repair."""

from collections.abc import Collection, Iterable
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _

from inventory.models import GpuModel
from kernel.errors import Invalid
from portal.pages.table.address import FILTERS, read
from portal.pages.table.columns import DEFAULT, ORDER
from projects.filters import NO_TIER
from projects.models import Kind, ResearchArea, Stage, Tier
from projects.states import ProjectState

SHOWN = (*FILTERS, "columns", "sort")
"""What decides how the table looks. The rest of an address says which page of it, or which rows."""
_LAST_COUNTS = frozenset({"q", "kind", "lead", "late"})
CHOICES: dict[str, Collection[str]] = {
    "state": ProjectState.values,
    "stage": Stage.values,
    "tier": [*Tier.values, NO_TIER],
    "kind": Kind.values,
    "late": ["true", "false"],
}


def canonical(query: QueryDict) -> str:
    """Filters in a fixed order with sorted values; columns and order only where they are not what everybody sees.

    Raises ``Invalid`` for a column or sort key that is not allowed.
    """
    asked = read(query)
    pairs = [(key, value) for key in FILTERS for value in _values(query, key)]
    if asked.columns != DEFAULT:
        pairs.append(("columns", ",".join(asked.columns)))
    if not asked.is_usual_order:
        pairs.append(("sort", sort_text(asked.sort_keys)))
    return urlencode(pairs, safe=",:")


def sort_text(keys: Iterable[tuple[str, bool]]) -> str:
    return ",".join(f"-{key}" if is_down else key for key, is_down in keys)


def says_how(query: QueryDict) -> bool:
    """Whether the address itself says how the table looks."""
    return any(key in query for key in SHOWN)


def repaired(query: QueryDict) -> tuple[QueryDict, list[str]]:
    """The address without what is no longer there, and what that was, in words."""
    kept, gone = query.copy(), list[str]()
    for key, word in _words().items():
        known = _known(key)
        values = [value for raw in query.getlist(key) for value in _split(key, raw)]
        fine = [value for value in values if _is_known(key, value, known)]
        if len(fine) != len(values):
            gone += [f"{word} “{value[:60]}”" for value in values if value not in fine]
            kept.setlist(key, [",".join(fine)] if key in ("columns", "sort") else fine)
    return kept, gone


def _values(query: QueryDict, key: str) -> list[str]:
    found = [value.strip() for value in query.getlist(key)]
    return [value for value in found[-1:] if value] if key in _LAST_COUNTS else sorted({v for v in found if v})


def _split(key: str, raw: str) -> list[str]:
    return [part for part in raw.split(",") if part] if key in ("columns", "sort") else [raw]


def _known(key: str) -> Collection[str]:
    if key == "area":
        return set(ResearchArea.objects.values_list("name", flat=True))
    if key == "model":
        return set(GpuModel.objects.values_list("name", flat=True))
    return ORDER if key == "columns" else CHOICES.get(key, ())


def _is_known(key: str, value: str, known: Collection[str]) -> bool:
    if key != "sort":
        return value in known or not value
    try:
        read(QueryDict(urlencode({"sort": value})))
    except Invalid:
        return False
    return True


def _words() -> dict[str, str]:
    return {
        "state": _("state"),
        "stage": _("stage"),
        "tier": _("tier"),
        "kind": _("kind"),
        "late": _("milestone"),
        "area": _("area"),
        "model": _("GPU model"),
        "columns": _("column"),
        "sort": _("order by"),
    }
