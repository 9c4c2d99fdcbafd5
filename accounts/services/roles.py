"""Granting and revoking organisation-wide roles. Nobody does either to themselves."""

from django.utils.translation import gettext as _

from accounts.errors import AlreadySo
from accounts.models import Person, Role, RoleGrant
from accounts.notifications import own
from accounts.services.admins import person_to_change, refuse_without_admin
from kernel import audit, clock, outbox
from kernel.errors import Conflict, Invalid
from kernel.unit import unit_of_work

ROLES_OF_SERVICE_ACCOUNTS = frozenset({Role.AUDITOR})
"""Others decide, and deciding is for people: through an account of a program one could approve an own request."""


def role_grant(*, actor: Person | None, person_id: int, role: str) -> RoleGrant:
    """Give an active person a role. An admin's act. Raises ``OwnAccount``, ``AlreadySo``, ``Conflict``."""
    with unit_of_work():
        person = person_to_change(actor, person_id)
        wanted = _known(role)
        if not person.is_active:
            raise Conflict(_("%(person)s is deactivated and cannot get a role.") % {"person": person})
        if person.is_service and wanted not in ROLES_OF_SERVICE_ACCOUNTS:
            raise Conflict(_("A service account can only be an auditor: decisions are made by people."))
        if person.role_grants.filter(role=wanted, revoked_at__isnull=True).exists():
            raise AlreadySo(_("%(person)s holds this role already.") % {"person": person})
        grant = RoleGrant.objects.create(person=person, role=wanted, granted_by=actor, granted_at=clock.now())
        audit.record("role.granted", actor=actor, subject=person, after={"role": wanted})
        if actor is not None:
            own.tell_of_role(own.GRANTED, person=person, role=wanted, actor=actor)
    return grant


def role_revoke(*, actor: Person | None, person_id: int, role: str) -> RoleGrant:
    """Take a role away. An admin's act. Raises ``OwnAccount``, ``LastAdmin``, ``AlreadySo``.

    Locks the person and the live grants of the admin role.
    """
    with unit_of_work():
        person = person_to_change(actor, person_id)
        wanted = _known(role)
        if wanted == Role.ADMIN:
            refuse_without_admin(person)
        grant = person.role_grants.filter(role=wanted, revoked_at__isnull=True).first()
        if grant is None:
            raise AlreadySo(_("%(person)s does not hold this role.") % {"person": person})
        grant.revoked_at = clock.now()
        grant.save(update_fields=["revoked_at"])
        audit.record("role.revoked", actor=actor, subject=person, before={"role": wanted})
        outbox.emit("role.revoked", subject=person, data={"person_id": person.pk, "role": wanted})
        if actor is not None:
            own.tell_of_role(own.REVOKED, person=person, role=wanted, actor=actor)
    return grant


def _known(role: str) -> Role:
    if role not in Role.values:
        allowed = ", ".join(Role.values)
        raise Invalid({"role": _("“%(role)s” is no role; allowed: %(allowed)s") % {"role": role, "allowed": allowed}})
    return Role(role)
