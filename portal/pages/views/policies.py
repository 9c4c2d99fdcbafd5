"""Who may see and change a saved view."""

from django.db.models import Q, QuerySet

from accounts.models import Person, Role
from accounts.policies import has_role, require_signed_in
from kernel.errors import Forbidden, NotFound
from portal.models import SavedView


def visible_to(person: object) -> QuerySet[SavedView]:
    """One's own and those that are shared. Of somebody else's private view one does not know."""
    if not isinstance(person, Person) or not person.is_active:
        return SavedView.objects.none()
    return SavedView.objects.filter(Q(owner=person) | Q(is_shared=True), deleted_at__isnull=True)


def may_change(person: object, view: SavedView) -> bool:
    """Its owner; of a shared one also an admin."""
    if not isinstance(person, Person):
        return False
    return view.owner_id == person.pk or (view.is_shared and has_role(person, Role.ADMIN))


def require_change(person: object, view: SavedView | None) -> SavedView:
    """The view. Raises ``NotFound`` for what the person may not know of, else ``Forbidden``."""
    someone = require_signed_in(person)
    if view is None or not (view.is_shared or view.owner_id == someone.pk):
        raise NotFound
    if not may_change(someone, view):
        raise Forbidden(data={"action": "change_view"})
    return view
