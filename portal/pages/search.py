"""Search over what the person may see: projects, jobs, nodes, people."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.models import Person, Role
from accounts.policies import has_role, require_signed_in
from accounts.policies import visible_to as visible_people
from inventory.models import Node
from inventory.states import NodeState
from projects.policies import visible_to as visible_projects
from scheduling.api.filters import jobs_filtered
from scheduling.selectors import listed

MOST = 10


@dataclass(frozen=True, slots=True)
class Hit:
    name: str
    about: str
    url: str
    state: str = ""


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """The page at ``/search/?q=``."""
    person = require_signed_in(request.user)
    words = request.GET.get("q", "").strip()[:100]
    groups = [(title, list(hits)) for title, hits in _groups(person, words)] if words else []
    context = {"words": words, "groups": [group for group in groups if group[1]]}
    return render(request, "portal/search.html", context)


def _groups(person: Person, words: str) -> Iterable[tuple[str, Iterable[Hit]]]:
    projects = visible_projects(person).filter(name__icontains=words).order_by("name")[:MOST]
    yield _("Projects"), (Hit(row.name, "", reverse("project", args=[row.pk]), row.state) for row in projects)
    jobs = jobs_filtered(listed(person), {"q": words}, person)[:MOST]
    yield (
        _("Jobs"),
        (
            Hit(
                row.name,
                f"{row.pk}, {row.project.name}, {row.owner}",
                reverse("scheduling:job", args=[row.pk]),
                row.state,
            )
            for row in jobs
        ),
    )
    nodes = Node.objects.exclude(state=NodeState.REMOVED).filter(name__icontains=words).order_by("name")[:MOST]
    yield _("Nodes"), (Hit(row.name, "", reverse("node", args=[row.pk]), row.state) for row in nodes)
    if has_role(person, Role.ADMIN, Role.AUDITOR):
        match = Q(username__icontains=words) | Q(display_name__icontains=words)
        people = visible_people(person).filter(match).order_by("display_name")[:MOST]
        yield _("People"), (Hit(str(row), row.username, reverse("accounts:person", args=[row.pk])) for row in people)
