"""From what was typed, or from a project, to what the form shows. Raw text stays as it is, valid or not."""

import re
from collections import defaultdict
from typing import Any

from kernel.form_drafts import Data, first
from projects.models import DataClass, Kind
from projects.selectors import ProjectDetail

ROW_SETS = ("compute", "milestones", "team")
_IN_A_ROW = re.compile(rf"({'|'.join(ROW_SETS)})-(\d{{1,4}})-([A-Za-z_]+)")
_ALWAYS_THERE = frozenset({"role"})
"""A field that has a value in every row says nothing about whether the row was filled in."""

Initial = dict[str, Any]


def nothing_yet() -> Initial:
    """A new form: what most projects are."""
    return {"form": {"data_class": DataClass.INTERNAL, "kind": Kind.RESEARCH}, **{name: [] for name in ROW_SETS}}


def of_project(detail: ProjectDetail) -> Initial:
    project = detail.project
    return {
        "form": {
            **{field: getattr(project, field) for field in ("name", "goal", "kind", "stage", "data_class")},
            "area": project.area.name if project.area else "",
            "breakthrough": project.breakthrough,
            "datasets": "\n".join(project.datasets),
        },
        "compute": [
            {"gpu_model": row.gpu_model.name, "min": row.min, "target": row.target, "max": row.max}
            for row in detail.expected_compute
        ],
        "milestones": [
            {"id": row.id, "name": row.name, "due_on": row.due_on, "met_on": row.met_on} for row in detail.milestones
        ],
        "team": [],
    }


def of_draft(data: Data) -> Initial:
    """What stood in the fields. Rows that were removed or left empty are not there again."""
    rows: dict[str, dict[int, dict[str, str]]] = {name: defaultdict(dict) for name in ROW_SETS}
    fields = {}
    for name in data:
        place = _IN_A_ROW.fullmatch(name)
        if place:
            rows[place[1]][int(place[2])][place[3]] = first(data, name)
        else:
            fields[name] = first(data, name)
    sets = {name: [row for _index, row in sorted(found.items()) if _is_filled(row)] for name, found in rows.items()}
    return {"form": fields, **sets}


def _is_filled(row: dict[str, str]) -> bool:
    return "DELETE" not in row and any(value.strip() for name, value in row.items() if name not in _ALWAYS_THERE)
