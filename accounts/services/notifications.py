"""What people do to what they are told: reading, choosing how to hear, sending again; and forgetting what is old."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.errors import AlreadySo
from accounts.models import (
    DeliveryOutcome,
    MailChoice,
    Notification,
    NotificationDelivery,
    NotificationPreference,
    Person,
    Role,
)
from accounts.notifications import ledger, reading, recipients, telling, unread
from accounts.notifications.topics import groups
from accounts.policies import require_role, require_signed_in
from kernel import audit, clock
from kernel.errors import Invalid
from kernel.unit import unit_of_work

KEPT = timedelta(days=180)
"""How long after it was read, or sent, it is known what somebody was told."""
BATCH = 5000


def notifications_read(*, actor: Person, ids: Iterable[int] | None = None, group: str = "") -> int:
    """Mark one's own as read: these, or all of a group, or all. Returns how many were unread."""
    rows = Notification.objects.filter(person=require_signed_in(actor), read_at__isnull=True)
    if ids is not None:
        rows = rows.filter(pk__in=list(ids))
    if group:
        rows = rows.filter(group=group)
    with unit_of_work():
        changed = rows.update(read_at=clock.now())
        unread.forget_on_commit([actor.pk])
    return changed


def notifications_unread(*, actor: Person, ids: Iterable[int]) -> int:
    """Mark one's own as not read yet. Returns how many were read."""
    with unit_of_work():
        changed = reading.inbox(require_signed_in(actor)).filter(pk__in=list(ids), read_at__isnull=False)
        count = changed.update(read_at=None)
        unread.forget_on_commit([actor.pk])
    return count


def notification_preferences_choose(*, actor: Person, chosen: Mapping[str, str]) -> None:
    """How one wants to hear of these groups; the others stay. Raises ``Invalid`` by group."""
    known = {group.name for group in groups()}
    errors = {name[:40]: _("There is no such group.") for name in chosen if name not in known}
    for name, mail in chosen.items():
        if mail not in MailChoice.values:
            words = {"given": mail[:20], "allowed": ", ".join(MailChoice.values)}
            errors.setdefault(name, _("%(given)s: choose from %(allowed)s.") % words)
    if errors:
        raise Invalid(errors)
    with unit_of_work():
        person = require_signed_in(actor)
        before = {group: mail for (_person, group), mail in recipients.choices([person.pk]).items()}
        changed = {name: mail for name, mail in chosen.items() if before.get(name, MailChoice.USUAL) != mail}
        if not changed:
            return
        NotificationPreference.objects.bulk_create(
            [NotificationPreference(person=person, group=name, mail=mail) for name, mail in sorted(changed.items())],
            update_conflicts=True,
            unique_fields=["person", "group"],
            update_fields=["mail"],
        )
        old = {name: before.get(name, MailChoice.USUAL) for name in changed}
        audit.record("person.notifications_chosen", actor=actor, subject=person, before=old, after=changed)


def delivery_retry(*, actor: Person, delivery_id: int) -> NotificationDelivery:
    """Try once more to send what was given up. Admins only; raises ``AlreadySo`` for what has not failed."""
    with unit_of_work():
        require_role(actor, Role.ADMIN)
        row = reading.delivery(actor, delivery_id)
        if not ledger.put_back(row.pk, clock.now()):
            raise AlreadySo(_("This delivery has not failed."))
        audit.record("notification.retried", actor=actor, subject=row, before={"error": row.error})
        transaction.on_commit(telling.wake, robust=True)
        return reading.delivery(actor, delivery_id)


def notifications_forget(now: datetime) -> int:
    """Forget what was read, and what was sent, 180 days ago; return how many rows. At most ``BATCH`` of each at once.

    Of what must never be told twice the bare key stays: person and ``once``.
    """
    old = now - KEPT
    done = NotificationDelivery.objects.exclude(outcome=DeliveryOutcome.DUE).filter(done_at__lt=old)
    gone = _delete_oldest(done)
    read = Notification.objects.filter(read_at__lt=old)
    keyed = list(read.exclude(once="").exclude(topic="").order_by("read_at").values_list("pk", flat=True)[:BATCH])
    NotificationDelivery.objects.filter(notification__in=keyed).delete()
    empty = {"topic": "", "group": "", "words": {}, "url": "", "subject_type": "", "subject_id": ""}
    gone += Notification.objects.filter(pk__in=keyed).update(**empty)
    bare = list(read.filter(once="").order_by("read_at").values_list("pk", flat=True)[:BATCH])
    Notification.objects.filter(pk__in=bare).delete()
    return gone + len(bare)


def _delete_oldest(rows: ledger.Rows) -> int:
    oldest = list(rows.order_by("done_at").values_list("pk", flat=True)[:BATCH])
    NotificationDelivery.objects.filter(pk__in=oldest).delete()
    return len(oldest)
