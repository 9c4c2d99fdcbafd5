"""Who may see an approval and its private notes, and who may change the rules. Who decides is in ``deciders``."""

from collections.abc import Collection

from django.db.models import F, Q, QuerySet

from accounts.models import Person, Role, RoleGrant
from accounts.policies import has_role, require_role
from approvals.deciders import live_delegations, side_of
from approvals.kinds import kinds
from approvals.models import Approval, PolicyVersion, Step
from approvals.rules import Rules, never_by_itself
from approvals.states import OPEN, ApprovalState
from kernel import clock

SEES_ALL = frozenset({Role.DIRECTOR, Role.ADMIN, Role.AUDITOR})
DECIDING = (Role.ADMIN, Role.DIRECTOR)
"""Roles that a step may name: an auditor changes nothing."""


def visible_to(person: object) -> QuerySet[Approval]:
    """The approvals whose existence this person may know of. Every query of a screen starts here.

    Organisation roles see all; others what they asked, what is of a project they are on, what they decided, and what
    they may have to decide: named for it, or standing in for somebody.
    """
    if not isinstance(person, Person) or not person.is_active:
        return Approval.objects.none()
    if has_role(person, *SEES_ALL):
        return Approval.objects.all()
    seen = Q(requester=person) | Q(votes__person=person)
    for kind in kinds():
        seen |= Q(kind=kind.name, project_id__in=kind.visible_projects(person))
    return Approval.objects.filter(pk__in=Approval.objects.filter(seen | _to_decide(person)).values("pk"))


def _to_decide(person: Person) -> Q:
    """What is at a step that is this person's by name or through somebody they stand in for."""
    waits = Q(state=ApprovalState.WAITING, steps__round=F("round"))
    waits &= Q(steps__started_at__isnull=False, steps__passed_at__isnull=True)
    named = waits & Q(steps__people__contains=[person.pk])
    rows = list(live_delegations(clock.now()).filter(stand_in=person))
    held = _roles_of({row.principal_id for row in rows}) if rows else {}
    for row in rows:
        of_principal = Q(steps__people__contains=[row.principal_id])
        if roles := held.get(row.principal_id):
            of_principal |= Q(steps__roles__overlap=roles)
            of_principal |= Q(steps__escalated_at__isnull=False, steps__escalate_to__overlap=roles)
        named |= waits & of_principal & (Q() if row.approval_id is None else Q(pk=row.approval_id))
    return named


def _roles_of(people: Collection[int]) -> dict[int, list[str]]:
    """The roles that these people hold now, those who are active. One statement."""
    live = RoleGrant.objects.filter(person__in=people, revoked_at__isnull=True, person__is_active=True)
    found: dict[int, list[str]] = {}
    for person, role in live.order_by("role").values_list("person_id", "role"):
        found.setdefault(person, []).append(role)
    return found


def decides_something(person: object) -> bool:
    """Whether anything is, or by the rules in force can become, this person's to decide in their own right."""
    if not isinstance(person, Person) or not person.is_active:
        return False
    open_steps = Step.objects.filter(approval__state__in=OPEN, round=F("approval__round"), passed_at__isnull=True)
    if has_role(person, *DECIDING) or open_steps.filter(people__contains=[person.pk]).exists():
        return True
    return any(names_person(policy.parsed, person.pk) for policy in policies_in_force())


def policies_in_force() -> QuerySet[PolicyVersion]:
    """The newest version of each kind, of those that have been asked for. One statement."""
    return PolicyVersion.objects.order_by("kind", "-number").distinct("kind")


def names_person(rules: Rules, person_id: int) -> bool:
    """Whether a step of these rules names somebody."""
    return any(person_id in step.people for rule in rules for step in rule.steps)


def may_comment(person: object, approval: Approval) -> bool:
    """Whoever may see it, but for an auditor, who changes nothing, unless they asked for it or decide as well."""
    is_auditor_only = has_role(person, Role.AUDITOR) and not has_role(person, Role.ADMIN, Role.DIRECTOR)
    return not is_auditor_only or (isinstance(person, Person) and approval.requester_id == person.pk)


def reads_private_notes(person: object, approval: Approval) -> bool:
    """Private notes are for those who decide for the organisation, and who audits it. Not for who asked or is on the
    project's side, whatever else they are."""
    if not isinstance(person, Person) or not has_role(person, *SEES_ALL) or approval.requester_id == person.pk:
        return False
    side = side_of(approval)
    return side is not None and person.pk not in side


def rules_for(person: object, policy: PolicyVersion) -> Rules:
    """The rules as they hold for what this person asks. Who may write them gets nothing by them alone: otherwise one
    could grant oneself whatever one wants in two steps."""
    rules = policy.parsed
    return never_by_itself(rules) if has_role(person, Role.ADMIN) else rules


def policy_writers() -> frozenset[int]:
    """Ids of those whom ``rules_for`` gives nothing by the rules alone. One statement."""
    admins = RoleGrant.objects.filter(role=Role.ADMIN, revoked_at__isnull=True)
    return frozenset(admins.values_list("person_id", flat=True))


def require_policy_reader(person: object) -> Person:
    return require_role(person, *SEES_ALL)


def require_policy_editor(person: object) -> Person:
    return require_role(person, Role.ADMIN)
