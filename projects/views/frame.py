"""What every page about one project shows around its own content."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from projects import policies
from projects.models import Project
from projects.selectors import ProjectDetail, project_detail


@dataclass(frozen=True, slots=True)
class Tab:
    url: str
    label: str
    is_current: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A button of the page head: a step that this person could take now."""

    url: str
    label: str
    asks_first: bool = True
    is_danger: bool = False
    is_quiet: bool = False
    """Never the primary button of a page, wherever it stands."""


def framed(
    request: HttpRequest, detail: ProjectDetail, current: str = "", counts: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """Context of ``projects/project_base.html``: the project, its tabs and the steps that are possible.

    ``counts``: of tabs whose number the page knows already.
    """
    return {
        "detail": detail,
        "project": detail.project,
        "tabs": tabs(detail, current, counts or {}),
        "steps": (offered := steps(detail)),
        "has_danger": any(step.is_danger for step in offered),
        "can": detail.can,
    }


def opened(request: HttpRequest, project_id: int, needed: policies.Action = "read") -> ProjectDetail:
    """The project's detail for a page that needs this right. Raises ``NotFound``, ``Forbidden``."""
    detail = project_detail(request.user, project_id)
    if needed != "read":  # whoever may not read it has not come so far
        policies.judge(detail.standing, needed)
    return detail


Counter = Callable[[int], int]
_counters: dict[str, Counter] = {}


def count_on_tab(tab: str, counter: Counter) -> None:
    """Register, in ``AppConfig.ready``, what counts a tab that only a room above can count."""
    _counters[tab] = counter


def tabs(detail: ProjectDetail, current: str, counts: Mapping[str, int]) -> list[Tab]:
    """The sub-pages of a project; each stands at every project, so that one finds it where it always is."""
    pages = (
        ("overview", "project", _("Overview"), None),
        ("jobs", "project-jobs", _("Jobs"), None),
        ("quota", "quotas:project", _("Quota"), None),
        ("milestones", "projects:milestones", _("Milestones"), len(detail.milestones)),
        ("suitability", "projects:suitability", _("Suitability"), None),
        ("members", "projects:members", _("Team"), len(detail.members)),
        ("cost", "project-cost", _("Cost"), None),
        ("history", "projects:history", _("History"), None),
    )
    pk = detail.project.pk
    return [
        Tab(reverse(name, args=[pk]), label, current == key, _count(key, pk, counts) if count is None else count)
        for key, name, label, count in pages
    ]


def _count(tab: str, project_id: int, counts: Mapping[str, int]) -> int | None:
    if tab in counts:
        return counts[tab]
    return _counters[tab](project_id) if tab in _counters else None


def steps(detail: ProjectDetail) -> list[Step]:
    """In the order in which they are likely wanted; what cannot be done now is not offered."""
    key = [detail.project.pk]
    is_decided = "approve" in detail.can
    offers = {
        "decide": (is_decided, Step(reverse("projects:decide", args=key), _("Decide"), asks_first=False)),
        "edit": ("edit" in detail.can, Step(reverse("projects:edit", args=key), _("Edit"), asks_first=False)),
        "reclassify": (
            "reclassify" in detail.can and "edit" not in detail.can,
            Step(reverse("projects:edit", args=key), _("Reclassify"), asks_first=False, is_quiet=True),
        ),
        "set_tier": ("set_tier" in detail.can, Step(reverse("projects:tier", args=key), _("Set tier"))),
    }
    words = {
        "withdraw": _("Withdraw"),
        "resume": _("Resume"),
        "suspend": _("Suspend"),
        "close": _("Close"),
    }
    found = [step for is_offered, step in offers.values() if is_offered]
    for event, word in words.items():
        if event in detail.can:
            url = reverse("projects:step", args=[*key, event])
            found.append(Step(url, word, is_danger=event in ("suspend", "close")))
    return found


def title(project: Project) -> str:
    return project.name or _("Draft without a name")
