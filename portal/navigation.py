"""What the frame of every page needs: the rooms in the rail, the person's menu and role.

A room is listed when its address exists and the person's role has something to do there. Who may act is decided
by the policies; hiding a room is courtesy, not protection.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext_lazy as _

from accounts.models import Person, Role
from accounts.notifications import unread
from accounts.policies import organisation_roles
from approvals.waiting_count import waiting_count
from kernel.calendar import organisation_zone
from projects.models import Membership
from projects.policies import STAFFED
from scheduling.models import Job
from scheduling.states import LIVE

EVERYBODY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Room:
    """A place in the rail; `roles` empty means everybody, `starts_group` draws a line above."""

    url_name: str
    label: str | Promise
    icon: str
    roles: frozenset[str] = EVERYBODY
    starts_group: bool = False
    counted: str = ""
    """Which of ``rail_counts`` stands beside it."""


@dataclass(frozen=True)
class Item:
    """A room as one person sees it on one page."""

    url: str
    label: str | Promise
    icon: str
    is_current: bool = False
    starts_group: bool = False
    count: int = 0


ROOMS = (
    Room("home", _("Home"), "home"),
    Room("projects:list", _("Projects"), "projects", counted="projects"),
    Room("scheduling:list", _("Jobs"), "jobs", counted="jobs"),
    Room("quotas:list", _("Quotas"), "quotas"),
    Room("approvals:list", _("Approvals"), "approval", counted="approvals"),
    Room("cluster", _("Cluster"), "cluster", starts_group=True),
    Room("inventory:nodes", _("Nodes"), "node"),
    Room("scheduling:policy", _("Scheduling policy"), "settings", frozenset({Role.ADMIN, Role.DIRECTOR, Role.AUDITOR})),
    Room("accounts:people", _("People"), "people", frozenset({Role.ADMIN})),
    Room("accounts:announcements", _("Announcements"), "announcement", frozenset({Role.ADMIN, Role.AUDITOR})),
    Room("accounts:audit", _("Audit log"), "audit", frozenset({Role.ADMIN, Role.AUDITOR})),
)
PERSON_MENU = (
    Room("accounts:tokens", _("Access tokens"), "key"),
    Room("accounts:password", _("Password"), "lock"),
    Room("design", _("Parts of the screens"), "columns"),
)
COUNTS_KEPT_S = 30
SIGN_OUT_NAMES = ("accounts:logout", "account_logout")


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor. Lazy, so that partial pages pay nothing for the frame."""
    roles = SimpleLazyObject(lambda: organisation_roles(request.user))
    return {
        "navigation": SimpleLazyObject(lambda: visible_rooms(ROOMS, roles, request.path, rail_counts(request.user))),
        "person_menu": SimpleLazyObject(lambda: visible_rooms(PERSON_MENU, roles, request.path)),
        "role_label": SimpleLazyObject(lambda: _role_label(roles)),
        "sign_out_url": SimpleLazyObject(lambda: next((u for n in SIGN_OUT_NAMES if (u := address(n))), "")),
        "organisation_zone": organisation_zone().key,
    }


def visible_rooms(
    rooms: Iterable[Room], roles: Collection[str], path: str, counts: Mapping[str, int] | None = None
) -> list[Item]:
    """The rooms whose address exists and that these roles may see, the one at `path` marked."""
    items = []
    numbers = counts or {}
    for room in rooms:
        url = address(room.url_name)
        if url and (not room.roles or room.roles & set(roles)):
            items.append(
                Item(url, room.label, room.icon, is_within(path, url), room.starts_group, numbers.get(room.counted, 0))
            )
    return items


def rail_counts(person: object) -> dict[str, int]:
    """The projects one is on, one's own jobs that run, and what waits for one's decision. Told again for half a
    minute: then one statement, and those that find out who decides."""
    if not isinstance(person, Person):
        return {}
    return {**_own_counts(person), "approvals": waiting_count(person)}


def _own_counts(person: Person) -> dict[str, int]:
    key = f"rail-counts:{person.pk}"
    kept = cache.get(key)
    if isinstance(kept, dict):
        return kept
    live = Membership.objects.filter(person=person, left_at__isnull=True, project__state__in=STAFFED).order_by()
    running = Job.objects.filter(owner=person, state__in=LIVE).order_by()
    projects = Coalesce(Subquery(live.values("person").annotate(n=Count("pk")).values("n")), 0)
    jobs = Coalesce(Subquery(running.values("owner").annotate(n=Count("pk")).values("n")), 0)
    news = unread.unread_rows().filter(person=person).order_by()
    told = Coalesce(Subquery(news.values("person").annotate(n=Count("pk")).values("n")), 0)
    found = Person.objects.filter(pk=person.pk).annotate(rail_projects=projects, rail_jobs=jobs, rail_unread=told)
    [row] = found.values("rail_projects", "rail_jobs", "rail_unread")
    # The badge beside it is read with the same statement, and kept for itself: it is forgotten when somebody is told.
    unread.remember(person.pk, row["rail_unread"])
    counts = {"projects": row["rail_projects"], "jobs": row["rail_jobs"]}
    cache.set(key, counts, COUNTS_KEPT_S)
    return counts


def address(url_name: str) -> str:
    """The address of a name, or nothing where no such page exists."""
    try:
        return reverse(url_name)
    except NoReverseMatch:
        return ""


def is_within(path: str, url: str) -> bool:
    """Whether a page lies in a room: the room's own page or one below it."""
    root = url.rstrip("/")
    return path.rstrip("/") == root or (root != "" and path.startswith(f"{root}/"))


def _role_label(roles: Collection[str]) -> str:
    held = [str(role.label) for role in Role if role in roles]
    return ", ".join(held) if held else str(_("Member"))
