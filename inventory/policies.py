"""Who may know of the machines: everybody signed in. Who may change them: platform admins."""

from django.db.models import QuerySet

from accounts.models import Person, Role
from accounts.policies import has_role
from inventory.models import EnrolmentToken, Node, Pool


def is_reader(person: object) -> bool:
    return isinstance(person, Person) and person.is_active


def visible_nodes(person: object) -> QuerySet[Node]:
    """Every node, for whoever is signed in; also those removed, whose history stays."""
    return Node.objects.all() if is_reader(person) else Node.objects.none()


def visible_pools(person: object) -> QuerySet[Pool]:
    return Pool.objects.all() if is_reader(person) else Pool.objects.none()


def visible_tokens(person: object) -> QuerySet[EnrolmentToken]:
    """Enrolment tokens (never their secrets): for those who issue them, and for auditors."""
    if has_role(person, Role.ADMIN, Role.AUDITOR):
        return EnrolmentToken.objects.all()
    return EnrolmentToken.objects.none()


def may_change(person: object) -> bool:
    """Whether the person may enrol nodes, change pools, prices and the catalogue."""
    return has_role(person, Role.ADMIN)
