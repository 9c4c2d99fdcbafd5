"""Who may do what in the whole organisation. The base of every room's own ``policies``."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import Person, Role
from kernel.errors import Forbidden, Unauthenticated

_CACHE = "_organisation_roles"


def organisation_roles(person: object) -> frozenset[Role]:
    """The roles held now: one query, kept on the object (which lives as long as its request).

    A person who is not active, somebody not signed in and a node hold none.
    """
    if not isinstance(person, Person) or person.pk is None:
        return frozenset()
    known: frozenset[Role] | None = getattr(person, _CACHE, None)
    if known is None:
        live = person.role_grants.filter(revoked_at__isnull=True, person__is_active=True)
        known = frozenset(Role(role) for role in live.values_list("role", flat=True))
        setattr(person, _CACHE, known)
    return known


def has_role(person: object, *roles: Role | str) -> bool:
    """Whether the person holds at least one of these roles."""
    return not organisation_roles(person).isdisjoint(roles)


def require_signed_in(person: object) -> Person:
    """The person; raises ``Unauthenticated`` for nobody, a node, or somebody deactivated."""
    if not isinstance(person, Person) or person.pk is None:
        raise Unauthenticated
    if not person.is_active:
        raise Unauthenticated(_("This account is deactivated."))
    return person


def require_role(person: object, *roles: Role | str) -> Person:
    """The person, who holds one of these roles; raises ``Unauthenticated`` or ``Forbidden`` naming them."""
    someone = require_signed_in(person)
    if not has_role(someone, *roles):
        names = ", ".join(str(Role(role).label) for role in roles)
        message = _("This needs the role: %(roles)s.") % {"roles": names}
        raise Forbidden(message, data={"roles": [str(role) for role in roles]})
    return someone


def visible_to(person: object) -> QuerySet[Person]:
    """Whom this person may know of: everybody active; admins and auditors also see who is deactivated."""
    if not isinstance(person, Person) or not person.is_active:
        return Person.objects.none()
    if has_role(person, Role.ADMIN, Role.AUDITOR):
        return Person.objects.all()
    return Person.objects.filter(is_active=True)
