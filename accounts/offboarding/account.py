"""The account's own part: sessions, tokens and roles end; what the person made for programs is named and goes on."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from accounts.models import Person, Role, RoleGrant, ServiceToken
from accounts.offboarding.steps import WORD, Item, Leaving, Line, OffboardingStep, Rows, register
from kernel import audit
from kernel.audit import Change
from kernel.models import AuditEntry, FormDraft

SESSIONS, TOKENS, ROLES, DRAFTS = "sessions", "tokens", "roles", "drafts"
PROGRAMS, PROGRAM_TOKENS = "programs", "program_tokens"


def _locks(person_id: int) -> Rows:
    """The grants of all admins, too: two admins who end each other wait for one another."""
    grants = RoleGrant.objects.filter(Q(role=Role.ADMIN) | Q(person_id=person_id), revoked_at__isnull=True)
    return {Person: [person_id], RoleGrant: list(grants.values_list("pk", flat=True))}


def _preview(person: Person) -> list[Line]:
    tokens = [Item(token.name) for token in _live_tokens(person)]
    roles = [_role_item(grant) for grant in _live_grants(person)]
    return [Line(SESSIONS), *Line.of(TOKENS, tokens), *Line.of(ROLES, roles), *_what_stays(person)]


def _carry_out(leaving: Leaving) -> list[Line]:
    person, now = leaving.person, leaving.at
    tokens, grants = _live_tokens(person), _live_grants(person)
    ServiceToken.objects.filter(pk__in=[token.pk for token in tokens]).update(revoked_at=now)
    RoleGrant.objects.filter(pk__in=[grant.pk for grant in grants]).update(revoked_at=now)
    # First of all steps: the rooms above see somebody who can do nothing any more.
    person.is_active = False
    person.session_epoch += 1
    person.save(update_fields=["is_active", "session_epoch"])
    ended = [Change(person, before={"role": grant.role}) for grant in grants]
    audit.record_many("role.revoked", actor=leaving.actor, changes=ended)
    held = [_role_item(grant) for grant in grants]
    revoked = [Item(token.name) for token in tokens]
    return [Line(SESSIONS), *Line.of(TOKENS, revoked), *Line.of(ROLES, held), *_what_stays(person)]


def _role_item(grant: RoleGrant) -> Item:
    with override(None):
        return Item(str(Role(grant.role).label), WORD)


def _live_tokens(person: Person) -> list[ServiceToken]:
    return list(ServiceToken.objects.filter(owner=person, revoked_at__isnull=True).order_by("pk"))


def _live_grants(person: Person) -> list[RoleGrant]:
    return list(RoleGrant.objects.filter(person=person, revoked_at__isnull=True).order_by("role"))


def _what_stays(person: Person) -> list[Line]:
    """Drafts are the person's alone and go by themselves when nobody comes back for them. Programs do the
    organisation's work, so they go on; an admin who reads their names can end them."""
    drafts = FormDraft.objects.filter(owner=person).count()
    issued = ServiceToken.objects.filter(created_by=person, owner__is_service=True, revoked_at__isnull=True)
    of_programs = [Item(str(row), note=str(row.owner)) for row in issued.select_related("owner").order_by("pk")]
    lines = Line.of(PROGRAMS, [Item.of(row) for row in _programs_of(person)])
    lines += Line.of(PROGRAM_TOKENS, of_programs)
    return [*lines, Line(DRAFTS, count=drafts)] if drafts else lines


def _programs_of(person: Person) -> list[Person]:
    """Active service accounts that the person created, as the audit log has it."""
    made = AuditEntry.objects.filter(
        action="person.created", actor_type=person._meta.label_lower, actor_id=str(person.pk)
    )
    ids = [int(pk) for pk in made.values_list("subject_id", flat=True)]
    return list(Person.objects.filter(pk__in=ids, is_service=True, is_active=True).order_by("username"))


def register_step() -> None:
    """Called once, when the room is ready."""
    register(
        OffboardingStep(
            room="accounts",
            title=_("Account"),
            words={
                SESSIONS: _("Signing in, and every session: ends at once"),
                TOKENS: _("Access tokens: revoked for good"),
                ROLES: _("Roles in the organisation: revoked"),
                DRAFTS: _("Unfinished forms: nobody else sees them, they are forgotten after a time"),
                PROGRAMS: _("Service accounts that they created: go on"),
                PROGRAM_TOKENS: _("Tokens of service accounts that they issued: go on"),
            },
            preview=_preview,
            carry_out=_carry_out,
            locks=_locks,
        )
    )
