"""A bulk change with what undoes it. The rules are the registry's."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel import clock
from kernel.errors import Conflict, NotFound
from kernel.unit import unit_of_work
from portal.models import BulkChange
from portal.pages.undo import KEPT, UNDO_WITHIN
from projects.facts import Facts
from projects.services import EditAsked, projects_edit_many


def stated(field: str, value: str | None) -> Facts:
    """One statement as the registry's services take it."""
    return {"stage": value or ""} if field == "stage" else {"area": value}


def bulk_change(
    *, actor: Person | None, field: str, value: str | None, seen: Mapping[int, str], reason: str = ""
) -> BulkChange:
    """Give all these projects one stage or area, or none of them; ``seen`` is the content looked at, by project.

    Locks the projects. Raises what ``projects_edit_many`` raises.
    """
    with unit_of_work():
        edits = [EditAsked(pk, stated(field, value), content) for pk, content in sorted(seen.items())]
        edited = projects_edit_many(actor=actor, edits=edits, reason=reason)
        now = clock.now()
        BulkChange.objects.filter(at__lt=now - KEPT).delete()
        rows = [
            {"project": pk, "before": one.before[field], "content": one.content}
            for pk, one in edited.items()
            if field in one.before
        ]
        return BulkChange.objects.create(by=require_signed_in(actor), field=field, at=now, rows=rows)


def bulk_undo(*, actor: Person | None, change_id: int) -> BulkChange:
    """Give each project the value that it had, by the same rules, if nobody has touched any of them since.

    Only whoever made the change, once, within ``UNDO_WITHIN``. Raises ``NotFound``, ``Conflict``, ``ManyRefused``.
    """
    with unit_of_work():
        someone = require_signed_in(actor)
        change = BulkChange.objects.filter(pk=change_id, by=someone).first()
        if change is None:
            raise NotFound
        if change.at < clock.now() - UNDO_WITHIN:
            raise Conflict(_("The change is more than an hour old: this cannot be undone any more."))
        edits = [EditAsked(row["project"], stated(change.field, row["before"]), row["content"]) for row in change.rows]
        projects_edit_many(actor=someone, edits=edits, reason=_("Undoing a change of many projects"))
        # The projects' rows are locked: of two undoings at once the second finds other content, or this mark.
        if not BulkChange.objects.filter(pk=change_id, undone_at__isnull=True).update(undone_at=clock.now()):
            raise Conflict(_("The change is undone already."))
    return change
