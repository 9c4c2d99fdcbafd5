"""The row of sums under the head."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from kernel import formats
from portal.pages.cost import Cost
from portal.pages.table.moment import Moment
from portal.pages.table.rows import Row
from projects.states import ProjectState

Total = Callable[[Sequence[Row], Moment], str]


def of(value: Callable[[Row], Any]) -> Total:
    """A plain sum; where one of them has no bound, neither has the sum."""

    def total(rows: Sequence[Row], at: Moment) -> str:
        found = [value(row) for row in rows]
        if None in found:
            return _("none")
        whole = sum(found)
        return formats.number(whole, 0 if whole == int(whole) else 1)

    return total


def hours(value: Callable[[Row], float]) -> Total:
    return lambda rows, at: formats.gpu_hours(sum(value(row) for row in rows))


def utilisation(rows: Sequence[Row], at: Moment) -> str:
    """Weighted by the GPUs that report."""
    known = [row.utilisation for row in rows if row.utilisation and row.utilisation.mean_pct is not None]
    count = sum(now.n for now in known)
    return f"{formats.number(sum((now.mean_pct or 0) * now.n for now in known) / count)} %" if count else "–"


def cost(value: Callable[[Row], Cost | None]) -> Total:
    """By currency; where one of them is unknown, the sum is the least that it was."""

    def total(rows: Sequence[Row], at: Moment) -> str:
        known = [part for row in rows if (part := value(row))]
        amounts: dict[str, Decimal] = {}
        for part in known:
            for code, money in part.amounts.items():
                amounts[code] = amounts.get(code, Decimal(0)) + money
        return in_words(Cost(amounts, all(part.is_whole for part in known))) if known else "–"

    return total


def in_words(value: Cost) -> str:
    """Unknown is said, never shown as nothing; what is known of it stands as the least that it was."""
    known = ", ".join(f"{formats.number(money, 2)} {code}" for code, money in sorted(value.amounts.items()))
    if value.is_whole:
        return known or formats.number(0)
    return _("over %(known)s") % {"known": known} if known else _("unknown")


def active(rows: Sequence[Row], at: Moment) -> str:
    count = sum(row.facts["state"] == ProjectState.ACTIVE for row in rows)
    return _("%(count)s active") % {"count": count}


def late(rows: Sequence[Row], at: Moment) -> str:
    return _("%(count)s late") % {"count": sum(row.is_late(at.today) for row in rows)}
