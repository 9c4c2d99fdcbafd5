"""Changing one statement of many projects at once: the rules of a single edit, all or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import audit, clock
from kernel.calendar import local_day
from kernel.errors import Conflict, Forbidden, Invalid, NotFound, PortalError
from kernel.unit import lock, unit_of_work
from projects import policies
from projects.content import content_hashes
from projects.errors import ManyRefused
from projects.facts import Facts, tidied
from projects.models import Project, ProjectChange
from projects.services.acts import as_now, bounded, needed
from projects.services.drafts import (
    Areas,
    Line,
    areas_by_name,
    classified,
    differences,
    require_open,
    require_rights,
    require_same,
)

MOST_PROJECTS = 500
FIELDS = frozenset({"stage", "area"})
"""What may be changed in many at once: one column each, and no name that could be taken."""


@dataclass(frozen=True, slots=True)
class EditAsked:
    """``seen`` is the content hash of the project that was looked at."""

    project_id: int
    changes: Facts
    seen: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What an edit would do to one project, or why it may not. Nothing is written yet."""

    project: Project
    lines: Sequence[Line]
    content: str
    """As it was before."""
    refusal: PortalError | None

    @property
    def needs_reason(self) -> bool:
        return bool(classified(self.project, {line.field for line in self.lines}))


@dataclass(frozen=True, slots=True)
class Edited:
    """A project's content as it is left, and what was there before of the fields that changed."""

    content: str
    before: Mapping[str, Any]


def judge_edits(person: Person, projects: Mapping[int, Project], edits: Sequence[EditAsked]) -> list[Judged]:
    """What each edit would do, by the rules of ``project_edit``, in a fixed number of statements.

    The rows carry the new values afterwards, unsaved. Raises ``Invalid`` for values that cannot be taken, and for
    other fields than ``FIELDS``.
    """
    asked = [_checked(edit) for edit in edits]
    rows = [projects[edit.project_id] for edit in asked]
    here, contents, areas = policies.standings(person, rows), content_hashes(rows), areas_by_name()
    return [
        _judged(here[edit.project_id], projects[edit.project_id], edit, contents[edit.project_id], areas)
        for edit in asked
    ]


def projects_edit_many(*, actor: Person | None, edits: Sequence[EditAsked], reason: str = "") -> dict[int, Edited]:
    """Change all of them or none, in one transaction; return by id what became of each. Locks the projects.

    Each change becomes a line of its project's history and an entry of the audit log. Changing what an approval
    fixed needs a reason. Raises ``ManyRefused`` naming every project that cannot be changed and why, ``NotFound`` where
    one is not for the actor to know of, ``Invalid``, ``LockTimeout``.
    """
    with unit_of_work():
        someone = as_now(actor)
        projects: dict[int, Project] = lock({Project: [edit.project_id for edit in edits]})[Project]
        judged = judge_edits(someone, projects, edits)
        _require_all(judged)
        why = needed(reason) if any(row.needs_reason for row in judged) else bounded(reason)
        _write([row for row in judged if row.lines], someone, why)
        contents = content_hashes([row.project for row in judged])
        return {
            row.project.pk: Edited(contents[row.project.pk], {line.field: line.before for line in row.lines})
            for row in judged
        }


def _checked(edit: EditAsked) -> EditAsked:
    if not edit.changes or not FIELDS.issuperset(edit.changes):
        text = _("Many projects at once: only %(allowed)s can be changed.")
        raise Invalid({"changes": text % {"allowed": ", ".join(sorted(FIELDS))}})
    return EditAsked(edit.project_id, tidied(edit.changes, today=local_day(clock.now())), edit.seen)


def _judged(here: policies.Standing, project: Project, edit: EditAsked, content: str, areas: Areas) -> Judged:
    lines = differences(project, edit.changes, areas)
    try:
        require_open(here, project, edit.changes)
        if edit.seen is not None:
            require_same(edit.seen, content)
        require_rights(here, project, {line.field for line in lines})
    except (Forbidden, NotFound, Conflict) as refusal:
        return Judged(project, lines, content, refusal)
    return Judged(project, lines, content, None)


def _require_all(judged: Sequence[Judged]) -> None:
    """What a stranger may not know of is not there; every other refusal is named with its project."""
    if not judged or len(judged) > MOST_PROJECTS:
        text = _("%(count)s projects; 1 to %(most)s can be changed at once.")
        raise Invalid({"projects": text % {"count": len(judged), "most": MOST_PROJECTS}})
    refused = [(row, row.refusal) for row in judged if row.refusal is not None]
    for _row, refusal in refused:
        if isinstance(refusal, NotFound):
            raise refusal
    if refused:
        raise ManyRefused(data={"projects": [_plain(row, refusal) for row, refusal in refused]})


def _plain(row: Judged, refusal: PortalError) -> dict[str, Any]:
    return {
        "id": row.project.pk,
        "name": row.project.name,
        "detail": refusal.message,
        "changed": refusal.data.get("changed", []),
    }


def _write(judged: Sequence[Judged], someone: Person, reason: str) -> None:
    now = clock.now()
    for row in judged:
        row.project.updated_at = now
    fields = sorted({line.field for row in judged for line in row.lines})
    if not fields:
        return
    Project.objects.bulk_update([row.project for row in judged], [*fields, "updated_at"])
    ProjectChange.objects.bulk_create(
        ProjectChange(project=row.project, field=line.field, before=line.before, after=line.after, at=now, by=someone)
        for row in judged
        for line in row.lines
    )
    said = {"reason": reason} if reason else {}
    audit.record_many(
        "project.edited",
        actor=someone,
        changes=[
            audit.Change(
                row.project,
                {line.field: line.before for line in row.lines},
                {**{line.field: line.after for line in row.lines}, **said},
            )
            for row in judged
        ],
    )
