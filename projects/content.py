"""What an approver sees of a project, and its hash: an approval holds for this content and no other."""

import hashlib
import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.utils.translation import gettext as _

from projects.models import Membership, Project

FIELDS = (
    "name",
    "goal",
    "kind",
    "stage",
    "area",
    "data_class",
    "breakthrough",
    "datasets",
    "expected_compute",
    "milestones",
    "team",
)
_SHORT = 8


def content_of(project: Project) -> dict[str, Any]:
    """Everything that the decision page shows, as plain values in a fixed order."""
    team = Membership.objects.filter(project=project, left_at__isnull=True).order_by("person_id")
    compute = project.expected_compute.select_related("gpu_model").order_by("gpu_model__name")
    return {
        "name": project.name,
        "goal": project.goal,
        "kind": project.kind,
        "stage": project.stage,
        "area": project.area.name if project.area else None,
        "data_class": project.data_class,
        "breakthrough": project.breakthrough,
        "datasets": project.datasets,
        "expected_compute": [[row.gpu_model.name, row.min, row.target, row.max] for row in compute],
        "milestones": list(project.milestones.order_by("due_on", "id").values_list("name", "due_on", "met_on")),
        "team": list(team.values_list("person_id", "role")),
    }


def content_hash(project: Project) -> str:
    """SHA-256 over the content, then eight digits per field: the first decides, the rest says what changed."""
    content = content_of(project)
    shorts = "".join(_digest(content[field])[:_SHORT] for field in FIELDS)
    return f"{_digest(content)}{shorts}"


def changed_fields(seen: str, now: str) -> list[str]:
    """The fields in which two content hashes differ; all of them if the first is no content hash."""
    whole = 64
    if len(seen) != whole + _SHORT * len(FIELDS):
        return list(FIELDS)
    old, new = seen[whole:], now[whole:]
    return [f for i, f in enumerate(FIELDS) if old[i * _SHORT : (i + 1) * _SHORT] != new[i * _SHORT : (i + 1) * _SHORT]]


def missing_for_submit(project: Project) -> dict[str, str]:
    """What a draft still lacks, as a sentence by field; empty when it can be submitted."""
    lacks = {
        "name": (not project.name, _("Give the project a name.")),
        "goal": (not project.goal.strip(), _("Say what the project is to reach.")),
        "stage": (not project.stage, _("Say at which stage the work stands.")),
        "breakthrough": (project.breakthrough is None, _("Estimate the breakthrough potential from 0 to 10.")),
        "expected_compute": (
            not project.expected_compute.exists(),
            _("State the expected GPUs of at least one model."),
        ),
        "milestones": (not project.milestones.exists(), _("Name at least one milestone with its date.")),
    }
    return {field: text for field, (is_missing, text) in lacks.items() if is_missing}


def _digest(value: Any) -> str:
    canonical = json.dumps(value, cls=DjangoJSONEncoder, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
