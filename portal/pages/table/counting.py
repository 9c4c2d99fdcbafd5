"""How many projects an address would show, from rows that are there anyway: true, or not said."""

from collections.abc import Callable, Sequence
from datetime import date

from django.http import QueryDict

from portal.pages.table.canonical import CHOICES
from portal.pages.table.rows import Row
from projects.filters import NO_TIER

Test = Callable[[Row], bool]
NOT_IN_THE_ROWS = ("q", "model")
"""Words may stand in a goal, and who holds quota is in another room: the rows know neither."""


def count(rows: Sequence[Row], query: QueryDict, today: date) -> int | None:
    """None where the rows do not say, or where the address names what may not be there."""
    if any(value.strip() for key in NOT_IN_THE_ROWS for value in query.getlist(key)):
        return None
    if any(value not in allowed for key, allowed in CHOICES.items() for value in _values(query, key)):
        return None
    areas = set(_values(query, "area"))
    if areas - {row.facts["area__name"] for row in rows}:
        return None
    tests = _tests(query, areas, today)
    return sum(all(test(row) for test in tests) for row in rows)


def _tests(query: QueryDict, areas: set[str], today: date) -> list[Test]:
    states, stages, tiers = (set(_values(query, key)) for key in ("state", "stage", "tier"))
    kind, late, lead = (query.get(key, "").strip() for key in ("kind", "late", "lead"))
    tests: list[tuple[object, Test]] = [
        (states, lambda row: row.facts["state"] in states),
        (stages, lambda row: row.facts["stage"] in stages),
        (tiers, lambda row: (row.facts["tier_now"] or NO_TIER) in tiers),
        (areas, lambda row: row.facts["area__name"] in areas),
        (kind, lambda row: row.facts["kind"] == kind),
        (late, lambda row: row.is_late(today) == (late == "true")),
        (lead, lambda row: any(one.username.casefold() == lead.casefold() for one in row.leads)),
    ]
    return [test for is_asked, test in tests if is_asked]


def _values(query: QueryDict, key: str) -> list[str]:
    return [value for raw in query.getlist(key) if (value := raw.strip())]
