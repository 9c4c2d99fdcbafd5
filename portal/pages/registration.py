"""Beside the form of a registration: what there is of what it asks for, who does the like, and what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals.selectors import answer_time
from inventory.capacity import Capacity
from inventory.models import GpuModel
from inventory.selectors import capacity_at
from kernel import clock, form_drafts
from kernel.errors import NotFound
from kernel.formats import number
from kernel.ids import NO_ROW, id_in
from kernel.svg import Usage, usage_bar
from projects.content import REGISTRATION
from projects.facts import MAX_ROWS
from projects.models import Project
from projects.policies import visible_to
from projects.registration.glance import Asked, Glance, glance
from projects.registration.progress import progress
from projects.similar import Similar, similar_to
from projects.states import MeasurementState, ProjectState
from projects.suitability import Suitability, computed, measurements
from quotas.selectors import promised_at

NOTHING = Capacity(0, 0)
MOST_SIMILAR = 4


@dataclass(frozen=True, slots=True)
class Against:
    """One GPU model against what is asked of it, in whole GPUs. ``asked`` None: not asked for."""

    model: GpuModel
    capacity: Capacity
    promised: int
    suitability: Suitability | None
    asked: Asked | None = None

    @property
    def free(self) -> int:
        """What could still be promised; promises never exceed what is usable, but an admin may correct both."""
        return max(0, self.capacity.usable - self.promised)

    @property
    def share(self) -> int | None:
        """The target in per cent of what is usable."""
        if self.asked is None or not self.capacity.usable:
            return None
        return round(100 * self.asked.target / self.capacity.usable)

    @property
    def verdict(self) -> str:
        """``none``, ``never`` (more than all of it), ``tight`` (more than is free) or ``fits``."""
        target = self.asked.target if self.asked else 0
        if not self.capacity.usable:
            return "none"
        if target > self.capacity.usable:
            return "never"
        return "tight" if target > self.free else "fits"

    @property
    def bar(self) -> SafeString:
        """Promised, then the target, against what is usable; beyond it is marked."""
        target = self.asked.target if self.asked else 0
        whole = Usage(self.promised + target, self.promised, self.capacity.usable)
        words = _("%(promised)s promised, %(target)s asked for, %(usable)s usable") % {
            "promised": number(self.promised),
            "target": number(target),
            "usable": number(self.capacity.usable),
        }
        return usage_bar(whole, label=words, width=None)


@require_POST
def consequence(request: HttpRequest) -> HttpResponse:
    """The part beside the form for what stands in it now; a page of its own without a script. Twelve statements."""
    person = require_signed_in(request.user)
    seen = glance(form_drafts.plain(request.POST.lists()))
    project = _project(person, request.POST.get("_project", ""))
    lines = _lines(seen.compute, project)
    is_draft = project is None or project.state == ProjectState.DRAFT
    context: dict[str, Any] = {
        "asked": [line for line in lines if line.asked],
        "there_is": [line for line in lines if line.capacity.capacity],
        "is_draft": is_draft,
        "progress": progress(seen.missing) if is_draft else None,
        "answer_time": answer_time(clock.now(), kind=REGISTRATION) if is_draft else None,
        "project": project,
        "similar": _similar(person, seen, project),
    }
    template = "portal/_consequence.html" if request.headers.get("HX-Request") else "portal/consequence.html"
    return render(request, template, context)


def _project(person: Person, text: str) -> Project | None:
    """The project that the form is about. Raises ``NotFound`` for one that this person may not know of."""
    if not text:
        return None
    project = visible_to(person).filter(pk=id_in(text) or NO_ROW).first()
    if project is None:
        raise NotFound
    return project


def _lines(compute: Sequence[Asked], project: Project | None) -> list[Against]:
    """What is asked for, in the order of the form; then every other model, the fastest first."""
    now = clock.now()
    models = list(GpuModel.objects.order_by("-suitability", "name"))
    by_id = {model.pk: model for model in models}
    capacities, promised = capacity_at(now, by_id), promised_at(now, by_id)
    confirmed = measurements(project).filter(state=MeasurementState.CONFIRMED) if project else ()
    rated = computed(by_id, confirmed)
    by_name = {row.gpu_model: row for row in reversed(compute)}
    asked = list(dict.fromkeys(row.gpu_model for row in compute))
    models.sort(key=lambda model: asked.index(model.name) if model.name in by_name else len(asked))
    return [
        Against(
            model,
            capacities.get(model.pk, NOTHING),
            promised.get(model.pk, 0),
            _rated(rated[model.pk]),
            by_name.get(model.name),
        )
        for model in models
    ]


def _rated(found: Suitability) -> Suitability | None:
    """None where nobody has rated the model."""
    return found if found.value or found.source == "excluded" else None


def _similar(person: Person, seen: Glance, project: Project | None) -> list[Similar]:
    return similar_to(
        name=seen.name,
        goal=seen.goal,
        datasets=seen.datasets[:MAX_ROWS],
        among=visible_to(person),
        exclude=project.pk if project else None,
        limit=MOST_SIMILAR,
    )
