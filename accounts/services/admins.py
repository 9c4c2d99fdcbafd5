"""The rule that somebody can always administer the portal."""

from accounts.errors import LastAdmin, OwnAccount
from accounts.models import Person, Role, RoleGrant
from accounts.policies import require_role
from kernel.unit import lock


def person_to_change(actor: Person | None, person_id: int) -> Person:
    """The person, locked, whose roles or state ``actor`` may change: an admin, never themselves.

    All live grants of the admin role are locked too, so that two admins who remove each other wait for one
    another. Call it inside a unit of work that locks nothing else.
    """
    if actor is not None:
        require_role(actor, Role.ADMIN)
        if actor.pk == person_id:
            raise OwnAccount
    admins = RoleGrant.objects.filter(role=Role.ADMIN, revoked_at__isnull=True)
    locked = lock({Person: [person_id], RoleGrant: admins.values_list("pk", flat=True)})
    person: Person = locked[Person][person_id]
    return person


def refuse_without_admin(person: Person) -> None:
    """Raise ``LastAdmin`` if no active admin would be left without this one. Call after ``person_to_change``."""
    live = RoleGrant.objects.filter(role=Role.ADMIN, revoked_at__isnull=True, person__is_active=True)
    holders = set(live.values_list("person_id", flat=True))
    if holders == {person.pk}:
        raise LastAdmin
