"""What every page about one project shows around its own content."""

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


def framed(request: HttpRequest, detail: ProjectDetail, current: str = "") -> dict[str, Any]:
    """Context of ``projects/project_base.html``: the project, its tabs and the steps that are possible."""
    return {
        "detail": detail,
        "project": detail.project,
        "tabs": tabs(detail, current),
        "steps": steps(detail),
        "can": detail.can,
    }


def opened(request: HttpRequest, project_id: int, needed: policies.Action = "read") -> ProjectDetail:
    """The project's detail for a page that needs this right. Raises ``NotFound``, ``Forbidden``."""
    detail = project_detail(request.user, project_id)
    policies.require(request.user, needed, detail.project)
    return detail


def tabs(detail: ProjectDetail, current: str) -> list[Tab]:
    key = [detail.project.pk]
    return [
        Tab(reverse("project", args=key), _("Overview"), current == "overview"),
        Tab(reverse("quotas:project", args=key), _("Quota"), current == "quota"),
        Tab(reverse("projects:suitability", args=key), _("Suitability"), current == "suitability"),
        Tab(reverse("projects:members", args=key), _("Team"), current == "members", len(detail.members)),
        Tab(reverse("projects:history", args=key), _("History"), current == "history"),
    ]


def steps(detail: ProjectDetail) -> list[Step]:
    """In the order in which they are likely wanted; what cannot be done now is not offered."""
    key = [detail.project.pk]
    is_decided = "approve" in detail.can
    offers = {
        "decide": (is_decided, Step(reverse("projects:decide", args=key), _("Decide"), asks_first=False)),
        "edit": ("edit" in detail.can, Step(reverse("projects:edit", args=key), _("Edit"), asks_first=False)),
        "reclassify": (
            "reclassify" in detail.can and "edit" not in detail.can,
            Step(reverse("projects:edit", args=key), _("Reclassify"), asks_first=False),
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
