"""What a whole month will cost if it goes on as it has begun."""

from calendar import monthrange
from datetime import date, timedelta
from decimal import Decimal

from kernel import clock
from kernel.calendar import day_bounds
from portal.pages.cost import Spent

LEAST = timedelta(days=1)
"""Less than a day says nothing about a month."""


def at_this_pace(spent: Spent, first: date) -> dict[str, Decimal]:
    """By currency; empty where too little has passed, or where some of the time has no price."""
    start = day_bounds(first).start
    passed = clock.now() - start
    days = monthrange(first.year, first.month)[1]
    whole = day_bounds(first + timedelta(days=days)).start - start
    if passed < LEAST or spent.unpriced:
        return {}
    share = Decimal(whole.total_seconds()) / Decimal(passed.total_seconds())
    return {currency: money * share for currency, money in spent.amounts.items()}
