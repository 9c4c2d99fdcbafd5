"""Search over what the person may see: actions, projects, areas, jobs, nodes, people; as a page, and as one types."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import BooleanField, ExpressionWrapper, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.models import Person, Role
from accounts.policies import has_role, organisation_roles, require_signed_in
from accounts.policies import visible_to as visible_people
from inventory.models import Node
from inventory.states import NodeState
from kernel.ids import id_in
from portal.pages.actions import actions_for
from portal.pages.finding import matching
from projects.models import Membership, ResearchArea
from projects.policies import visible_to as visible_projects
from scheduling.selectors import visible_to as visible_jobs

MOST, MOST_AT_ONCE = 20, 6
LONGEST = 100


@dataclass(frozen=True, slots=True)
class Hit:
    name: str
    about: str
    url: str
    state: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    title: str
    hits: list[Hit]


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """The page at ``/search/?q=``; with ``as=list`` the few that the field shows while one types."""
    person = require_signed_in(request.user)
    words = " ".join(request.GET.get("q", "").replace("\0", "").split())[:LONGEST]
    is_list = request.GET.get("as") == "list"
    most = MOST_AT_ONCE if is_list else MOST
    groups = [Found(title, list(hits)) for title, hits in _groups(person, words, most)] if words or is_list else []
    context = {"words": words, "groups": [group for group in groups if group.hits]}
    return render(request, "portal/_hits.html" if is_list else "portal/search.html", context)


def _groups(person: Person, words: str, most: int) -> Iterable[tuple[str, Iterable[Hit]]]:
    """Without words only what one can do."""
    if words:
        yield _("Projects"), _projects(person, words, most)
        yield _("Jobs"), _jobs(person, words, most)
        yield _("Nodes"), _nodes(words, most)
        yield _("Research areas"), _areas(words, most)
    if words and has_role(person, Role.ADMIN, Role.AUDITOR):
        yield _("People"), _people(person, words, most)
    found = actions_for(organisation_roles(person), words)[:most]
    yield _("Actions"), (Hit(str(action.label), "", url, icon=action.icon) for action, url in found)


def _projects(person: Person, words: str, most: int) -> Iterable[Hit]:
    """One's own before others that fit as well, then those that changed last."""
    own = Membership.objects.filter(person=person, left_at__isnull=True).values("project")
    rows = matching(visible_projects(person), words, "name", "goal", "area__title").select_related("area")
    rows = rows.annotate(is_own=ExpressionWrapper(Q(pk__in=own), output_field=BooleanField()))
    for row in rows.order_by("rank", "-is_own", "-updated_at", "pk")[:most]:
        about = row.area.title if row.area else ""
        yield Hit(
            row.name or _("Draft without a name"), about, reverse("project", args=[row.pk]), row.state, "projects"
        )


def _jobs(person: Person, words: str, most: int) -> Iterable[Hit]:
    found, pk = Q(name__icontains=words), id_in(words)
    if pk is not None:
        found |= Q(pk=pk)
    rows = visible_jobs(person).filter(found).select_related("project", "owner").order_by("-submitted_at", "-pk")
    for row in rows[:most]:
        about = f"{row.pk}, {row.project.name}, {row.owner}"
        yield Hit(row.name, about, reverse("scheduling:job", args=[row.pk]), row.state, "jobs")


def _nodes(words: str, most: int) -> Iterable[Hit]:
    rows = Node.objects.exclude(state=NodeState.REMOVED).filter(name__icontains=words).select_related("pool")
    for row in rows.order_by("name")[:most]:
        yield Hit(row.name, row.pool.title, reverse("node", args=[row.pk]), row.state, "node")


def _areas(words: str, most: int) -> Iterable[Hit]:
    for row in matching(ResearchArea.objects.all(), words, "title", "name").order_by("rank", "title")[:most]:
        yield Hit(row.title, row.name, f"{reverse('projects:list')}?area={row.name}", icon="projects")


def _people(person: Person, words: str, most: int) -> Iterable[Hit]:
    rows = matching(visible_people(person), words, "display_name", "username").order_by("rank", "display_name", "pk")
    for row in rows[:most]:
        yield Hit(str(row), row.username, reverse("accounts:person", args=[row.pk]), icon="person")
