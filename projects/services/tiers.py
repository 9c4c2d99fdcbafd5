"""The priority tier in force: dated, set by an admin until review rounds publish it."""

from datetime import datetime

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import audit, clock
from kernel.errors import Conflict, Invalid
from kernel.unit import unit_of_work
from projects import policies
from projects.errors import NotEditable
from projects.models import Tier, TierFact
from projects.services.acts import begin, needed
from projects.states import ProjectState


def tier_set(*, actor: Person | None, project_id: int, tier: str, reason: str) -> TierFact:
    """End the tier in force now and begin another. Locks the project; not for its own people.

    Raises ``Invalid`` for an unknown tier or no reason, ``Conflict`` for the tier already in force,
    ``NotEditable`` for a project that is not approved.
    """
    with unit_of_work():
        someone, project = begin(actor, project_id, "set_tier")
        if tier not in Tier.values:
            text = _("“%(tier)s” is not one of: %(allowed)s.")
            raise Invalid({"tier": text % {"tier": tier[:60], "allowed": ", ".join(Tier.values)}})
        if project.state not in policies.APPROVED:
            text = _("A project that is %(state)s has no tier.") % {"state": ProjectState(project.state).label}
            raise NotEditable(text, data={"state": project.state})
        why, now = needed(reason), clock.now()
        standing = TierFact.objects.filter(project=project, during__contains=now).first()
        if standing is not None and standing.tier == tier:
            raise Conflict(_("The tier is %(tier)s already.") % {"tier": Tier(tier).label})
        if standing is not None:
            _end(standing, now)
        fact = TierFact.objects.create(
            project=project, tier=tier, during=DateTimeTZRange(now, None), reason=why, set_by=someone
        )
        before = {"tier": standing.tier if standing else None}
        audit.record(
            "project.tier_set", actor=someone, subject=project, before=before, after={"tier": tier, "reason": why}
        )
    return fact


def _end(fact: TierFact, now: datetime) -> None:
    if fact.during.lower == now:  # It was never in force: an interval [now, now) is empty.
        fact.delete()
        return
    fact.during = DateTimeTZRange(fact.during.lower, now)
    fact.save(update_fields=["during"])
