"""Answering for a milestone: it was met, it was not after all, or its day moves. Each is a line of the history."""

from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import audit, clock
from kernel.calendar import local_day
from kernel.errors import Invalid, NotFound
from kernel.unit import unit_of_work
from projects import policies
from projects.models import Milestone
from projects.services.acts import begin, note
from projects.services.drafts import not_editable
from projects.services.parts import plain_milestone


def milestone_meet(*, actor: Person | None, project_id: int, milestone_id: int, on: date | None = None) -> Milestone:
    """Met on this day, today by default. Locks the project.

    Raises ``NotFound``, ``Forbidden``, ``NotEditable``; ``Invalid`` for a day that has not come yet.
    """
    today = local_day(clock.now())
    day = on or today
    if day > today:
        raise Invalid({"met_on": _("%(day)s has not come yet.") % {"day": day.isoformat()}})
    return _change(actor, project_id, milestone_id, met_on=day)


def milestone_reopen(*, actor: Person | None, project_id: int, milestone_id: int) -> Milestone:
    """Not met after all: takes back ``milestone_meet``. Locks the project; raises the same."""
    return _change(actor, project_id, milestone_id, met_on=None)


def milestone_move(*, actor: Person | None, project_id: int, milestone_id: int, due_on: date) -> Milestone:
    """Due on another day; later than first planned counts as slipped. Locks the project; raises the same."""
    return _change(actor, project_id, milestone_id, due_on=due_on)


def _change(actor: Person | None, project_id: int, milestone_id: int, **fields: date | None) -> Milestone:
    """What is so already is not written a second time."""
    with unit_of_work():
        someone, project = begin(actor, project_id, "edit")
        if project.state not in policies.EDITABLE:
            raise not_editable(project, {})
        row = project.milestones.filter(pk=milestone_id).first()
        if row is None:
            raise NotFound
        before = plain_milestone(row)
        for name, value in fields.items():
            setattr(row, name, value)
        after: dict[str, Any] = plain_milestone(row)
        if after != before:
            row.save(update_fields=[*fields])
            project.updated_at = clock.now()
            project.save(update_fields=["updated_at"])
            note(project, "milestone", before, after, someone)
            audit.record(
                "project.edited",
                actor=someone,
                subject=project,
                before={"milestones": [before]},
                after={"milestones": [after]},
            )
    return row
