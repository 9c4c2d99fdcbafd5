"""What one can do from anywhere: pages and acts that the search finds by name, for those who may use them."""

from collections.abc import Collection
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import Role
from portal.navigation import EVERYBODY, address


@dataclass(frozen=True, slots=True)
class Action:
    """``also``: other words under which people look for it; empty ``roles`` means everybody."""

    url_name: str
    label: str | Promise
    icon: str
    also: str | Promise = ""
    roles: frozenset[str] = EVERYBODY


_ADMIN, _READS_ALL = frozenset({Role.ADMIN}), frozenset({Role.ADMIN, Role.DIRECTOR, Role.AUDITOR})
ACTIONS = (
    Action("scheduling:new", _("New job"), "plus", _("submit, run, launch")),
    Action("projects:new", _("Register a project"), "plus", _("new project, draft")),
    Action("projects:list", _("All projects"), "projects", _("table, registry")),
    Action("projects:areas", _("Research areas"), "projects", _("groups")),
    Action("scheduling:list", _("Jobs"), "jobs", _("queue, running, waiting")),
    Action("quotas:list", _("Quotas"), "quotas", _("guarantee, limit, promises")),
    Action("quotas:grant", _("Grant a quota"), "quotas", _("guarantee, limit"), _ADMIN),
    Action("cluster", _("Cluster"), "cluster", _("heat map, GPUs")),
    Action("inventory:nodes", _("Nodes"), "node", _("machines")),
    Action("inventory:enrol", _("Enrol a node"), "plus", _("token, machine, agent"), _ADMIN),
    Action("inventory:pools", _("Pools"), "node", pgettext_lazy("search", "dedicated, shared")),
    Action("lanes", _("Left their lane"), "alert", _("unused, late, two-weekly check"), _READS_ALL),
    Action("accounts:people", _("People"), "people", _("accounts, roles"), _ADMIN),
    Action("accounts:person-new", _("New person"), "plus", _("account, user"), _ADMIN),
    Action("accounts:audit", _("Audit log"), "audit", _("who did what"), frozenset({Role.ADMIN, Role.AUDITOR})),
    Action("accounts:tokens", _("Access tokens"), "key", _("API, program")),
    Action("accounts:password", _("Password"), "lock"),
)


def actions_for(roles: Collection[str], words: str) -> list[tuple[Action, str]]:
    """With its address, each action that these roles have and that is called so; all of them without words."""
    asked = words.casefold().split()
    held = set(roles)
    found = []
    for action in ACTIONS:
        url = address(action.url_name)
        called = f"{action.label} {action.also}".casefold()
        if url and (not action.roles or action.roles & held) and all(word in called for word in asked):
            found.append((action, url))
    return found
