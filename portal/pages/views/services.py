"""Saving, changing, deleting and copying views. A person's views change one at a time: their row is the lock."""

from dataclasses import dataclass
from typing import Any, TypedDict

from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel import audit, clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.unit import lock, unit_of_work
from portal.models import DefaultView, SavedView
from portal.pages.undo import KEPT, UNDO_WITHIN
from portal.pages.views.address import checked
from portal.pages.views.policies import require_change, visible_to

MAX_NAME = 80
MOST_VIEWS = 50


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """``query`` is the part of an address of the table after its question mark."""

    name: str
    query: str
    is_shared: bool = False
    is_default: bool = False
    """Whether the table opens with it for whoever saves it."""


class ViewChanges(TypedDict, total=False):
    """What is absent stays as it is. ``is_default`` is the actor's own choice and changes the view for nobody else."""

    name: str
    query: str
    is_shared: bool
    is_default: bool


def view_create(*, actor: Person | None, spec: ViewSpec) -> SavedView:
    """Keep an address under a name, as the last of the actor's views. Locks the actor.

    Raises ``Invalid`` for a name that is taken, missing or too long, an address that the table does not take, and
    beyond ``MOST_VIEWS``.
    """
    with unit_of_work():
        someone = require_signed_in(_locked(require_signed_in(actor)))
        now = clock.now()
        SavedView.objects.filter(owner=someone, deleted_at__lt=now - KEPT).delete()
        mine = _of(someone)
        if mine.count() >= MOST_VIEWS:
            text = _("You have %(most)s views, which is as many as are kept. Delete one first.")
            raise Invalid({"name": text % {"most": MOST_VIEWS}})
        last = mine.aggregate(last=Max("position"))["last"]
        view = SavedView.objects.create(
            owner=someone,
            name=_free_name(someone, spec.name),
            query=checked(someone, spec.query),
            is_shared=spec.is_shared,
            position=0 if last is None else last + 1,
            created_at=now,
            updated_at=now,
        )
        if spec.is_default:
            _open_with(someone, view)
        _record("view.created", someone, view, None)
    return view


def view_change(*, actor: Person | None, view_id: int, changes: ViewChanges) -> SavedView:
    """Rename, share, or give another address; the owner's right, of a shared one also an admin's. Locks the owner.

    Anybody may choose a view that they see as their default. Raises ``Invalid``, ``NotFound``, ``Forbidden``.
    """
    with unit_of_work():
        someone, view = _begin(actor, view_id)
        stated = changes.keys() - {"is_default"}
        if stated:
            require_change(someone, view)
            before = _plain(view)
            if "name" in changes:
                view.name = _free_name(view.owner, changes["name"], besides=view)
            if "query" in changes:
                view.query = checked(someone, changes["query"])
            view.is_shared = changes.get("is_shared", view.is_shared)
            view.updated_at = clock.now()
            view.save(update_fields=[*stated, "updated_at"])
            _record("view.changed", someone, view, before)
        if "is_default" in changes:
            _choose(someone, view, is_default=changes["is_default"])
    return view


def view_delete(*, actor: Person | None, view_id: int) -> SavedView:
    """Take a view away from everybody; within an hour this can be undone. Locks the owner."""
    with unit_of_work():
        someone, view = _begin(actor, view_id)
        require_change(someone, view)
        view.deleted_at = clock.now()
        view.save(update_fields=["deleted_at"])
        _record("view.deleted", someone, view, _plain(view))
    return view


def view_restore(*, actor: Person | None, view_id: int) -> SavedView:
    """Undo a deletion. Raises ``Conflict`` after ``UNDO_WITHIN``, and where the name is taken by now."""
    with unit_of_work():
        someone = require_signed_in(actor)
        found = SavedView.objects.filter(pk=view_id, deleted_at__isnull=False).first()
        owner = _locked(require_change(someone, found).owner)
        view = SavedView.objects.select_related("owner").get(pk=view_id)
        if view.deleted_at is None:
            return view
        if view.deleted_at < clock.now() - UNDO_WITHIN:
            raise Conflict(_("The view was deleted more than an hour ago: this cannot be undone any more."))
        if _of(owner).filter(name__iexact=view.name).exists():
            raise Conflict(_("There is a view named “%(name)s” again by now.") % {"name": view.name})
        view.deleted_at = None
        view.save(update_fields=["deleted_at"])
        _record("view.restored", someone, view, None)
    return view


def view_copy(*, actor: Person | None, view_id: int) -> SavedView:
    """A private view of the actor's own with the same address. Raises ``NotFound``, ``Invalid`` beyond the most."""
    someone = require_signed_in(actor)
    view = visible_to(someone).filter(pk=view_id).first()
    if view is None:
        raise NotFound
    with unit_of_work():
        taken = {name.casefold() for name in _of(someone).values_list("name", flat=True)}
        name = view.name
        number = 1
        while name.casefold() in taken:
            number += 1
            end = f" ({number})"
            name = view.name[: MAX_NAME - len(end)] + end
        return view_create(actor=someone, spec=ViewSpec(name, view.query))


def view_move(*, actor: Person | None, view_id: int, by: int) -> None:
    """Move one of the actor's own views so many places to the right; to the left if negative. Locks the actor."""
    with unit_of_work():
        someone = require_signed_in(_locked(require_signed_in(actor)))
        views = list(_of(someone))
        at = next((index for index, view in enumerate(views) if view.pk == view_id), None)
        if at is None:
            raise NotFound
        views.insert(min(max(at + by, 0), len(views) - 1), views.pop(at))
        for position, view in enumerate(views):
            view.position = position
        SavedView.objects.bulk_update(views, ["position"])


def _begin(actor: Person | None, view_id: int) -> tuple[Person, SavedView]:
    """The actor and a view that they see, with its owner locked and the view read again under the lock."""
    someone = require_signed_in(actor)
    found = visible_to(someone).filter(pk=view_id).first()
    if found is None:
        raise NotFound
    _locked(found.owner)
    view = visible_to(someone).select_related("owner").filter(pk=view_id).first()
    if view is None:
        raise NotFound
    return someone, view


def _locked(person: Person) -> Person:
    locked: Person = lock({Person: [person.pk]})[Person][person.pk]
    return locked


def _of(person: Person) -> QuerySet[SavedView]:
    return SavedView.objects.filter(owner=person, deleted_at__isnull=True)


def _free_name(owner: Person, name: str, besides: SavedView | None = None) -> str:
    tidy = " ".join(name.split())
    if not tidy:
        raise Invalid({"name": _("Give the view a name.")})
    if len(tidy) > MAX_NAME:
        text = _("%(count)s characters; at most %(most)s are allowed.")
        raise Invalid({"name": text % {"count": len(tidy), "most": MAX_NAME}})
    same = _of(owner).filter(name__iexact=tidy)
    if (same.exclude(pk=besides.pk) if besides else same).exists():
        raise Invalid({"name": _("There is a view named “%(name)s” already. Choose another name.") % {"name": tidy}})
    return tidy


def _choose(someone: Person, view: SavedView, *, is_default: bool) -> None:
    if is_default:
        _open_with(someone, view)
    else:
        DefaultView.objects.filter(person=someone, view=view).delete()


def _open_with(someone: Person, view: SavedView) -> None:
    DefaultView.objects.update_or_create(person=someone, defaults={"view": view})


def _record(action: str, someone: Person, view: SavedView, before: dict[str, Any] | None) -> None:
    """What others see is on record; what a person keeps for themselves is not."""
    if view.is_shared or (before and before["is_shared"]):
        after = None if view.deleted_at else _plain(view)
        audit.record(action, actor=someone, subject=view, before=before, after=after)


def _plain(view: SavedView) -> dict[str, Any]:
    return {"name": view.name, "query": view.query, "is_shared": view.is_shared, "owner": view.owner.username}
