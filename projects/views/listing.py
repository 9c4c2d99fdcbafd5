"""The list of projects, and the research areas."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role
from accounts.policies import has_role, require_signed_in
from kernel.errors import Invalid
from kernel.forms import add_errors
from kernel.problem import flatten
from projects import policies, selectors, services
from projects.filters import NO_TIER, ProjectFilter
from projects.forms import AreaForm
from projects.models import ResearchArea, Stage, Tier
from projects.states import ProjectState

PAGE_SIZE = 500


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """All projects that this person may know of; filters and order stand in the address."""
    person = require_signed_in(request.user)
    everything = policies.visible_to(person)
    found = ProjectFilter(request.GET, queryset=selectors.with_facts(everything))
    if not found.is_valid():
        raise Invalid(flatten(found.errors))
    rows = selectors.in_order(found.qs, request.GET.get("sort", ""), field="sort")
    context = {
        "page": Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page")),
        "total": everything.count(),
        "words": request.GET.get("q", ""),
        "sort": request.GET.get("sort", ""),
        "filters": _filters(request),
        "is_filtered": any(request.GET.get(key) for key in ("q", "state", "stage", "tier", "area", "kind")),
    }
    return render(request, "projects/list.html", context)


@require_http_methods(["GET", "POST"])
def areas(request: HttpRequest) -> HttpResponse:
    """The research areas; an admin adds one."""
    person = require_signed_in(request.user)
    form = AreaForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            area = services.area_create(actor=person, **form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("The research area %(name)s was added.") % {"name": area.title})
            return redirect("projects:areas")
    context = {
        "areas": ResearchArea.objects.select_related("parent").order_by("title"),
        "form": form,
        "may_add": has_role(person, Role.ADMIN),
    }
    return render(request, "projects/areas.html", context, status=422 if form.errors else 200)


def _filters(request: HttpRequest) -> list[dict[str, Any]]:
    """The chips over the table: what each narrows by, its choices, and those chosen."""
    parts = (
        ("state", _("State"), ProjectState.choices),
        ("stage", _("Stage"), Stage.choices),
        ("tier", _("Tier"), [*Tier.choices, (NO_TIER, _("No tier"))]),
    )
    return [
        {"key": key, "label": label, "choices": choices, "chosen": request.GET.getlist(key)}
        for key, label, choices in parts
    ]
