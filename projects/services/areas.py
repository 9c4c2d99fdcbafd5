"""Research areas: groups of projects that may hold a guarantee of their own. All of it is an admin's."""

from typing import Any

from django.db.models import ProtectedError
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Person, Role
from accounts.policies import require_role
from kernel import audit
from kernel.errors import Invalid, NotFound
from kernel.unit import lock, unit_of_work
from projects.errors import AreaInUse
from projects.models import Project, ResearchArea
from projects.services.acts import as_now

MAX_NAME = 60
MAX_TITLE = 200


def area_create(*, actor: Person | None, name: str, title: str = "", parent: str | None = None) -> ResearchArea:
    """Add a research area. ``name`` is its key: lower-case letters, digits, ``-`` and ``_``.

    Raises ``Invalid`` for a name that is taken or no key, and for a parent that is not there.
    """
    with unit_of_work():
        someone = require_role(as_now(actor), Role.ADMIN)
        if not name or slugify(name) != name or len(name) > MAX_NAME:
            text = _("“%(name)s” is no key: up to %(most)s lower-case letters, digits, - and _.")
            raise Invalid({"name": text % {"name": name[:60], "most": MAX_NAME}})
        above = _above(parent)
        area, is_new = ResearchArea.objects.get_or_create(
            name=name, defaults={"title": _title(title) or name, "parent": above}
        )
        if not is_new:
            raise Invalid({"name": _("There is a research area “%(name)s” already.") % {"name": name}})
        audit.record("area.created", actor=someone, subject=area, after={"name": name, **_plain(area)})
    return area


def area_edit(*, actor: Person | None, area_id: int, title: str, parent: str | None) -> ResearchArea:
    """Rename an area, or move it with all that is in it. Its key stays: addresses and files name it by that.

    Locks all areas, so that two moves at once make no circle. Raises ``NotFound``; ``Invalid`` for an empty title, a
    parent that is not there, and one that lies within the area itself.
    """
    with unit_of_work():
        someone = require_role(as_now(actor), Role.ADMIN)
        areas = _locked()
        area = areas.get(area_id)
        if area is None:
            raise NotFound
        if not _title(title):
            raise Invalid({"title": _("Give the area a title.")})
        above = _above(parent)
        if above is not None and area.pk in _way_up(above.pk, areas):
            text = _("“%(parent)s” lies within “%(area)s” itself.")
            raise Invalid({"parent": text % {"parent": above.title, "area": area.title}})
        before = _plain(area)
        area.title, area.parent = _title(title), above
        after = _plain(area)
        if after != before:
            area.save(update_fields=["title", "parent"])
            audit.record("area.changed", actor=someone, subject=area, before=before, after=after)
    return area


def area_delete(*, actor: Person | None, area_id: int) -> None:
    """Take an area away in which nothing stands. Raises ``NotFound``; ``AreaInUse`` saying what stands in it."""
    with unit_of_work():
        someone = require_role(as_now(actor), Role.ADMIN)
        area = _locked().get(area_id)
        if area is None:
            raise NotFound
        _require_empty(area)
        before = {"name": area.name, **_plain(area)}
        audit.record("area.deleted", actor=someone, subject=area, before=before)
        try:
            area.delete()
        except ProtectedError as error:
            text = _("It holds quota or access to a pool, or once did: that history names it.")
            raise AreaInUse(text, data={"projects": 0, "areas": 0}) from error


def _require_empty(area: ResearchArea) -> None:
    projects = Project.objects.filter(area=area).count()
    areas = area.children.count()
    parts = []
    if projects:
        parts.append(ngettext("%(count)s project stands in it", "%(count)s projects stand in it", projects))
        parts[-1] %= {"count": projects}
    if areas:
        parts.append(ngettext("%(count)s area lies within it", "%(count)s areas lie within it", areas))
        parts[-1] %= {"count": areas}
    if parts:
        raise AreaInUse(f"{', '.join(parts)}.", data={"projects": projects, "areas": areas})


def _locked() -> dict[int, ResearchArea]:
    ids = list(ResearchArea.objects.values_list("pk", flat=True))
    found: dict[int, ResearchArea] = lock({ResearchArea: ids})[ResearchArea] if ids else {}
    return found


def _above(parent: str | None) -> ResearchArea | None:
    above = ResearchArea.objects.filter(name=parent).first() if parent else None
    if parent and above is None:
        raise Invalid({"parent": _("There is no research area “%(name)s”.") % {"name": parent[:60]}})
    return above


def _way_up(area_id: int, areas: dict[int, ResearchArea]) -> set[int]:
    """The area with everything it lies within."""
    seen: set[int] = set()
    at: int | None = area_id
    while at is not None and at not in seen:
        seen.add(at)
        at = areas[at].parent_id if at in areas else None
    return seen


def _title(title: str) -> str:
    tidy = " ".join(title.split())
    if len(tidy) > MAX_TITLE:
        text = _("%(count)s characters; at most %(most)s are allowed.")
        raise Invalid({"title": text % {"count": len(tidy), "most": MAX_TITLE}})
    return tidy


def _plain(area: ResearchArea) -> dict[str, Any]:
    return {"title": area.title, "parent": area.parent.name if area.parent else None}
