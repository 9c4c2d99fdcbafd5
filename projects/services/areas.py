"""Research areas: groups of projects that may hold a guarantee of their own."""

from django.utils.text import slugify
from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from kernel import audit
from kernel.errors import Invalid
from kernel.unit import unit_of_work
from projects.models import ResearchArea
from projects.services.acts import as_now

MAX_NAME = 60
MAX_TITLE = 200


def area_create(*, actor: Person | None, name: str, title: str = "", parent: str | None = None) -> ResearchArea:
    """Add a research area; an admin's act. ``name`` is its key: lower-case letters, digits, ``-`` and ``_``.

    Raises ``Invalid`` for a name that is taken or no key, and for a parent that is not there.
    """
    with unit_of_work():
        someone = require_role(as_now(actor), Role.ADMIN)
        if not name or slugify(name) != name or len(name) > MAX_NAME:
            text = _("“%(name)s” is no key: up to %(most)s lower-case letters, digits, - and _.")
            raise Invalid({"name": text % {"name": name[:60], "most": MAX_NAME}})
        if len(title) > MAX_TITLE:
            text = _("%(count)s characters; at most %(most)s are allowed.")
            raise Invalid({"title": text % {"count": len(title), "most": MAX_TITLE}})
        above = ResearchArea.objects.filter(name=parent).first() if parent else None
        if parent and above is None:
            raise Invalid({"parent": _("There is no research area “%(name)s”.") % {"name": parent[:60]}})
        area, is_new = ResearchArea.objects.get_or_create(name=name, defaults={"title": title or name, "parent": above})
        if not is_new:
            raise Invalid({"name": _("There is a research area “%(name)s” already.") % {"name": name}})
        after = {"name": name, "title": area.title, "parent": parent}
        audit.record("area.created", actor=someone, subject=area, after=after)
    return area
