"""What an approver sees of a project, and its hash: an approval holds for this content and no other."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Protocol

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import prefetch_related_objects
from django.utils.translation import gettext as _

from projects.models import ComputeRequest, Membership, Milestone, Project

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
REGISTRATION = "project_registration"
"""The kind of approval that decides on this content."""
_SHORT = 8
_Rows = list[tuple[Any, ...]]


class Dated(Protocol):
    """A milestone, or what is known of one."""

    @property
    def name(self) -> str: ...
    @property
    def due_on(self) -> date: ...
    @property
    def met_on(self) -> date | None: ...


def content_of(project: Project) -> dict[str, Any]:
    """Everything that the decision page shows, as plain values in a fixed order."""
    return contents_of([project])[project.pk]


def contents_of(projects: Sequence[Project]) -> dict[int, dict[str, Any]]:
    """The same for many by id, in as many statements as for one."""
    prefetch_related_objects(projects, "area")
    ids = [project.pk for project in projects]
    team = Membership.objects.filter(project__in=ids, left_at__isnull=True).order_by("person_id")
    compute = ComputeRequest.objects.filter(project__in=ids).order_by("gpu_model__name")
    milestones = Milestone.objects.filter(project__in=ids).order_by("due_on", "id")
    teams = _by_project(team.values_list("project_id", "person_id", "role"))
    computes = _by_project(compute.values_list("project_id", "gpu_model__name", "min", "target", "max"))
    dates = _by_project(milestones.values_list("project_id", "name", "due_on", "met_on"))
    return {
        project.pk: _content(project, computes[project.pk], dates[project.pk], teams[project.pk])
        for project in projects
    }


def _content(project: Project, compute: _Rows, milestones: _Rows, team: _Rows) -> dict[str, Any]:
    return {
        "name": project.name,
        "goal": project.goal,
        "kind": project.kind,
        "stage": project.stage,
        "area": project.area.name if project.area else None,
        "data_class": project.data_class,
        "breakthrough": project.breakthrough,
        "datasets": project.datasets,
        "expected_compute": compute,
        "milestones": milestones,
        "team": team,
    }


def _by_project(rows: Iterable[tuple[Any, ...]]) -> defaultdict[int, list[tuple[Any, ...]]]:
    found: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for project_id, *values in rows:
        found[project_id].append(tuple(values))
    return found


def content_hash(project: Project) -> str:
    """SHA-256 over the content, then eight digits per field: the first decides, the rest says what changed."""
    return content_hashes([project])[project.pk]


def hash_of(
    project: Project, compute: Sequence[ComputeRequest], milestones: Sequence[Dated], team: Sequence[Membership]
) -> str:
    """The same of rows that a page has at hand, in their usual order: no statement."""
    return _hash(
        _content(
            project,
            [(row.gpu_model.name, row.min, row.target, row.max) for row in compute],
            [(row.name, row.due_on, row.met_on) for row in milestones],
            [(row.person_id, row.role) for row in sorted(team, key=lambda row: row.person_id)],
        )
    )


def content_hashes(projects: Sequence[Project]) -> dict[int, str]:
    """The hashes of many by id."""
    return {pk: _hash(content) for pk, content in contents_of(projects).items()}


def _hash(content: dict[str, Any]) -> str:
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
    return missing_among(
        {
            "name": bool(project.name),
            "goal": bool(project.goal.strip()),
            "stage": bool(project.stage),
            "breakthrough": project.breakthrough is not None,
            "expected_compute": project.expected_compute.exists(),
            "milestones": project.milestones.exists(),
        }
    )


def missing_among(is_stated: Mapping[str, bool]) -> dict[str, str]:
    """The same from what is stated so far, wherever it stands. A field that is not named counts as missing."""
    sentences = {
        "name": _("Give the project a name."),
        "goal": _("Say what the project is to reach."),
        "stage": _("Say at which stage the work stands."),
        "breakthrough": _("Estimate the breakthrough potential from 0 to 10."),
        "expected_compute": _("State the expected GPUs of at least one model."),
        "milestones": _("Name at least one milestone with its date."),
    }
    return {field: text for field, text in sentences.items() if not is_stated.get(field)}


def _digest(value: Any) -> str:
    canonical = json.dumps(value, cls=DjangoJSONEncoder, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
