"""Views as screens and the API show them: to whom they belong, and whether this person's table opens with them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Exists, OuterRef, QuerySet, When
from django.db.models.functions import Lower

from accounts.models import Person
from portal.models import DefaultView, SavedView
from portal.pages.views.policies import may_change, visible_to

MOST_LISTED = 120
"""One's own views and this many shared ones at most stand in the menu; a page lists all."""


@dataclass(frozen=True, slots=True)
class ViewRow:
    """A view as one person sees it. ``is_default``: that person's table opens with it."""

    pk: int
    name: str
    query: str
    is_shared: bool
    is_mine: bool
    is_default: bool
    may_change: bool
    owner: Person
    updated_at: datetime


def rows_of(person: Person) -> QuerySet[SavedView]:
    """All that the person sees: their own in their order, then the shared ones by name."""
    default = DefaultView.objects.filter(person=person, view=OuterRef("pk"))
    own_first = Case(When(owner=person, then=0), default=1)
    place = Case(When(owner=person, then="position"), default=0)
    found = visible_to(person).select_related("owner").annotate(is_default=Exists(default))
    return found.order_by(own_first, place, Lower("name"), "pk")


def listed(person: Person) -> list[ViewRow]:
    """Those of the tabs and their menu, in one statement."""
    return as_seen(person, rows_of(person)[:MOST_LISTED])


def one(person: Person, view_id: int) -> ViewRow | None:
    """A view that the person sees."""
    return next(iter(as_seen(person, rows_of(person).filter(pk=view_id))), None)


def default_of(person: Person) -> int | None:
    """With which view the table opens, if with any that is still to be seen."""
    found = visible_to(person).filter(default_of__person=person)
    return found.values_list("pk", flat=True).first()


def as_seen(person: Person, views: Iterable[SavedView]) -> list[ViewRow]:
    """Rows of ``rows_of`` for this person."""
    return [
        ViewRow(
            pk=view.pk,
            name=view.name,
            query=view.query,
            is_shared=view.is_shared,
            is_mine=view.owner_id == person.pk,
            is_default=getattr(view, "is_default", False),
            may_change=may_change(person, view),
            owner=view.owner,
            updated_at=view.updated_at,
        )
        for view in views
    ]
