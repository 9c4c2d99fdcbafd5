"""What the others run on idle GPUs now, and what they lose of it, by the decision page's own reckoning."""

from datetime import datetime

from inventory.models import GpuModel
from inventory.selectors import capacity_at
from portal.pages.approval.evidence.lending import Lending
from portal.pages.approval.quota.facts import Taken, ledger_of, lending_of, present, tiers_of


def borrowing(model: GpuModel, asker_id: int, asked: int, now: datetime) -> Lending:
    """If the asker took all of ``asked`` guaranteed GPUs at the present use. Seven statements."""
    ledger, there = ledger_of(model, now), present(model, now)
    capacity = capacity_at(now, [model.pk]).get(model.pk)
    reserve = capacity.reserve if capacity else 0
    return lending_of(ledger, there, tiers_of(there.by_project, now), Taken(asker_id, asked, reserve, now))
