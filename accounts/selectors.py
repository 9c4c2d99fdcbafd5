"""What is read about people, tokens and the audit log."""

from dataclasses import dataclass
from datetime import date

from django.db.models import Prefetch, Q, QuerySet

from accounts.models import Person, Role, RoleGrant, ServiceToken
from accounts.policies import has_role, require_role, require_signed_in, visible_to
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
