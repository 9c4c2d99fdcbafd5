"""Telling people something in a banner: publishing, editing and withdrawing announcements. Admins' acts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accounts import announcements
from accounts.errors import AlreadySo
from accounts.models import Announcement, AnnouncementKind, AnnouncementLevel, Person, Role
from accounts.policies import require_role
from kernel import audit, clock
from kernel.errors import Conflict, Invalid
from kernel.unit import lock, unit_of_work

MAX_TITLE = 200
MAX_TEXT = 2000


@dataclass(frozen=True, slots=True)
class AnnouncementSpec:
    """What is told to whom and when. ``starts_at`` None is now; of a running one, when it began."""

    kind: str
    title: str
    text: str = ""
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    level: str = AnnouncementLevel.INFO
    audience: Sequence[str] = ()


def announcement_publish(*, actor: Person, spec: AnnouncementSpec) -> Announcement:
    """A banner from its start on; of a maintenance window already three days before. Raises ``Invalid``."""
    with unit_of_work():
        require_role(actor, Role.ADMIN)
        now = clock.now()
        row = Announcement(created_by=actor, created_at=now, starts_at=now)
        _fill(row, spec, now)
        row.save(force_insert=True)
        audit.record("announcement.published", actor=actor, subject=row, after=_plain(row))
        announcements.forget_on_commit()
    return row


def announcement_edit(
    *, actor: Person, announcement_id: int, spec: AnnouncementSpec, seen: int | None = None
) -> Announcement:
    """Change one that is not over. ``seen`` is the revision that the editor read: another one by now is a ``Conflict``.

    Who has dismissed the banner sees the new one. Locks the announcement.
    """
    with unit_of_work():
        row = _locked(actor, announcement_id)
        if seen is not None and seen != row.revision:
            raise Conflict(_("Somebody else has changed this announcement meanwhile. Read it again, then change it."))
        before = _plain(row)
        _fill(row, spec, clock.now())
        row.revision += 1
        row.save()
        audit.record("announcement.edited", actor=actor, subject=row, before=before, after=_plain(row))
        announcements.forget_on_commit()
    return row


def announcement_withdraw(*, actor: Person, announcement_id: int) -> Announcement:
    """Take the banner away now, before its time. Raises ``AlreadySo`` for one that is over. Locks it."""
    with unit_of_work():
        row = _locked(actor, announcement_id)
        row.withdrawn_at = clock.now()
        row.save(update_fields=["withdrawn_at"])
        audit.record("announcement.withdrawn", actor=actor, subject=row, before=_plain(row))
        announcements.forget_on_commit()
    return row


def _locked(actor: Person, announcement_id: int) -> Announcement:
    require_role(actor, Role.ADMIN)
    row: Announcement = lock({Announcement: [announcement_id]})[Announcement][announcement_id]
    if row.withdrawn_at is not None:
        raise AlreadySo(_("This announcement was withdrawn."))
    if row.ends_at is not None and row.ends_at <= clock.now():
        raise AlreadySo(_("This announcement is over."))
    return row


def _fill(row: Announcement, spec: AnnouncementSpec, now: datetime) -> None:
    row.kind, row.level, row.audience = spec.kind, spec.level, sorted(set(spec.audience))
    row.title, row.text = spec.title.strip(), spec.text.strip().replace("\r\n", "\n")
    row.starts_at, row.ends_at = spec.starts_at or row.starts_at, spec.ends_at
    errors = {**_wrong_words(row), **_wrong_choices(row), **_wrong_times(row, now)}
    if errors:
        raise Invalid(errors)


def _wrong_words(row: Announcement) -> dict[str, str]:
    errors = {}
    if not 1 <= len(row.title) <= MAX_TITLE or not row.title.isprintable():
        errors["title"] = _("A title has 1 to %(most)s printable characters.") % {"most": MAX_TITLE}
    if len(row.text) > MAX_TEXT or not row.text.replace("\n", "").replace("\t", "").isprintable():
        errors["text"] = _("A text has at most %(most)s printable characters.") % {"most": MAX_TEXT}
    return errors


def _wrong_choices(row: Announcement) -> dict[str, str]:
    asked = (
        ("kind", [row.kind], AnnouncementKind.values),
        ("level", [row.level], AnnouncementLevel.values),
        ("audience", row.audience, Role.values),
    )
    return {
        field: _("%(given)s: choose from %(allowed)s.")
        % {"given": ", ".join(unknown)[:60], "allowed": ", ".join(allowed)}
        for field, given, allowed in asked
        if (unknown := [value for value in given if value not in allowed])
    }


def _wrong_times(row: Announcement, now: datetime) -> dict[str, str]:
    if row.ends_at is None:
        return {"ends_at": _("A maintenance window needs an end.")} if row.kind == AnnouncementKind.MAINTENANCE else {}
    if row.ends_at <= row.starts_at:
        return {"ends_at": _("The end must be after the start.")}
    return {"ends_at": _("The end has passed already.")} if row.ends_at <= now else {}


def _plain(row: Announcement) -> dict[str, Any]:
    names = ("kind", "level", "title", "text", "audience", "starts_at", "ends_at", "revision")
    return {name: getattr(row, name) for name in names}
