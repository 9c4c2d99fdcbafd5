"""What is read about people, tokens and the audit log."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Prefetch, Q, QuerySet

from accounts.models import Announcement, Offboarding, Person, Role, RoleGrant, ServiceToken
from accounts.policies import has_role, organisation_roles, require_role, require_signed_in, visible_to
from kernel import clock
from kernel.calendar import day_bounds
from kernel.models import AuditEntry


def people(person: object, *, matching: str = "") -> QuerySet[Person]:
    """Whom this person may know of, by name; ``matching`` is a part of the user name or the name."""
    rows = visible_to(person).order_by("username")
    if matching:
        rows = rows.filter(Q(username__icontains=matching) | Q(display_name__icontains=matching))
    return rows


def with_roles(rows: QuerySet[Person]) -> QuerySet[Person]:
    """The same rows with ``live_grants``, in one query more."""
    live = RoleGrant.objects.filter(revoked_at__isnull=True).order_by("role")
    return rows.prefetch_related(Prefetch("role_grants", queryset=live, to_attr="live_grants"))


def offboardings(person: object, of: int) -> QuerySet[Offboarding]:
    """Reports about one person, newest first, for admins and auditors. Raises ``Forbidden`` for others."""
    require_role(person, Role.ADMIN, Role.AUDITOR)
    return Offboarding.objects.filter(person_id=of).select_related("person", "by")


def own_tokens(person: object) -> QuerySet[ServiceToken]:
    """This person's tokens, live and ended, newest first. Nobody sees those of another person."""
    return ServiceToken.objects.filter(owner=require_signed_in(person)).order_by("-created_at", "-id")


def revocable_tokens(person: object) -> QuerySet[ServiceToken]:
    """Live tokens that this person may end: the own ones; an admin any."""
    live = ServiceToken.objects.filter(revoked_at__isnull=True)
    return live if has_role(person, Role.ADMIN) else live.filter(owner=require_signed_in(person))


def service_account_tokens(account: Person) -> QuerySet[ServiceToken]:
    """Tokens of a program, for the admins who issue them."""
    return ServiceToken.objects.filter(owner=account, owner__is_service=True).order_by("-created_at", "-id")


NOTICE = timedelta(hours=72)
"""How long before a maintenance window it is announced."""


@dataclass(frozen=True, slots=True)
class AuditQuestion:
    """Which entries: texts are parts of names, days are the organisation's, both ends included."""

    actor: str = ""
    action: str = ""
    subject: str = ""
    since: date | None = None
    until: date | None = None


def audit_entries(person: object, question: AuditQuestion) -> QuerySet[AuditEntry]:
    """Entries of the audit log, newest first, for admins and auditors. Raises ``Forbidden`` for others."""
    require_role(person, Role.ADMIN, Role.AUDITOR)
    rows = AuditEntry.objects.select_related("seal").order_by("-id")
    if question.actor:
        rows = rows.filter(Q(actor_name__icontains=question.actor) | Q(actor_id=question.actor))
    if question.action:
        rows = rows.filter(action__startswith=question.action)
    if question.subject:
        kind, _colon, number = question.subject.partition(":")
        rows = rows.filter(subject_type=kind, subject_id=number) if number else rows.filter(subject_type=kind)
    if question.since:
        rows = rows.filter(at__gte=day_bounds(question.since).start)
    if question.until:
        rows = rows.filter(at__lt=day_bounds(question.until).end)
    return rows


NOW, PLANNED, OVER, WITHDRAWN = "now", "planned", "over", "withdrawn"


def open_announcements(now: datetime) -> QuerySet[Announcement]:
    """Neither withdrawn nor over at this instant, the ones that begin first at the head."""
    alive = Q(ends_at__isnull=True) | Q(ends_at__gt=now)
    return Announcement.objects.filter(alive, withdrawn_at__isnull=True).order_by("starts_at", "id")


def announcements(person: object) -> QuerySet[Announcement]:
    """What this person may know of, newest first: admins and auditors all, others what they are told now."""
    rows = Announcement.objects.select_related("created_by").order_by("-starts_at", "-id")
    someone = require_signed_in(person)
    if has_role(someone, Role.ADMIN, Role.AUDITOR):
        return rows
    now = clock.now()
    begun = Q(starts_at__lte=now) | Q(kind="maintenance", starts_at__lte=now + NOTICE)
    mine = Q(audience__len=0) | Q(audience__overlap=sorted(organisation_roles(someone)))
    return rows.filter(begun, mine, pk__in=open_announcements(now).values("pk"))


def announcement_state(row: Announcement, now: datetime) -> str:
    """Where it stands at this instant."""
    if row.withdrawn_at is not None:
        return WITHDRAWN
    if row.ends_at is not None and row.ends_at <= now:
        return OVER
    return NOW if row.starts_at <= now else PLANNED
