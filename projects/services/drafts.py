"""Registering a project and changing what is stated about it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import audit, clock
from kernel.calendar import local_day
from kernel.errors import Invalid
from kernel.unit import unit_of_work
from projects import policies
from projects.content import changed_fields, content_hash
from projects.errors import ContentChanged, NotEditable
from projects.facts import CLASSIFYING, SCALARS, Facts, tidied
from projects.models import Project, ProjectRole, ResearchArea
from projects.services.acts import begin, begin_new, note
from projects.services.members import join
from projects.services.parts import set_compute, set_milestones
from projects.states import ProjectState

_NAME_TAKEN = "project_name_once"
Areas = dict[str, ResearchArea]


def project_create(*, actor: Person | None, facts: Facts) -> Project:
    """A draft of anybody with an active account, who becomes its lead. It may lack anything. Locks the actor.

    Raises ``Unauthenticated``; ``Invalid`` by field (unknown model or area, name taken, out of range).
    """
    with unit_of_work():
        return create_locked(begin_new(actor), facts)


def create_locked(someone: Person, facts: Facts) -> Project:
    """The same in a unit that holds the lock of who will lead it."""
    now = clock.now()
    asked = tidied(facts, today=local_day(now))
    project = Project(created_by=someone, created_at=now, updated_at=now)
    _assign(project, asked, areas_by_name() if asked.get("area") else {})
    with _name_is_free(project):
        project.save()
    set_compute(project, asked.get("expected_compute", []))
    set_milestones(project, asked.get("milestones", []))
    join(project, someone, ProjectRole.LEAD, by=someone)
    audit.record("project.created", actor=someone, subject=project, after={"name": project.name})
    return project


def project_edit(*, actor: Person | None, project_id: int, changes: Facts, seen: str | None = None) -> Project:
    """Change what is stated; each change becomes a line of the history. Locks the project.

    A draft is its lead's to change. Once approved, kind, area and data class are an admin's, the rest stays the
    lead's; while submitted, and at the end, nothing changes. ``seen`` is the content hash that the editor looked
    at: if the project is another by now, ``ContentChanged``. Raises also ``Invalid``, ``NotEditable``, ``Forbidden``.
    """
    with unit_of_work():
        someone, project = begin(actor, project_id, "read")
        edit_locked(project, someone, changes, seen)
    return project


def edit_locked(project: Project, someone: Person, changes: Facts, seen: str | None = None) -> None:
    """The same in a unit that holds the project's lock, for somebody who may read it."""
    here = policies.standing(someone, project)
    require_open(here, project, changes)
    if seen is not None:
        require_same(seen, content_hash(project))
    lines = _apply(project, tidied(changes, today=local_day(clock.now())))
    require_rights(here, project, {line.field for line in lines})
    for line in lines:
        note(project, line.field, line.before, line.after, someone)
    if lines:
        done = edited(project, lines)
        audit.record("project.edited", actor=someone, subject=project, before=done.before, after=done.after)


@dataclass(frozen=True, slots=True)
class Line:
    """One change; None stands for *not there*. Each milestone that changed is a line of its own."""

    field: str
    before: Any
    after: Any


def differences(project: Project, asked: Facts, areas: Areas) -> list[Line]:
    """Put what was stated on the row, unsaved, and return what differs. Rows of its own are not looked at."""
    before = _scalars(project)
    _assign(project, asked, areas)
    return [Line(field, before[field], value) for field, value in _scalars(project).items() if value != before[field]]


def _apply(project: Project, asked: Facts) -> list[Line]:
    """Write what differs and return it."""
    lines = differences(project, asked, areas_by_name() if asked.get("area") else {})
    project.updated_at = clock.now()
    with _name_is_free(project):
        project.save(update_fields=[*(line.field for line in lines), "updated_at"])
    if "expected_compute" in asked:
        old, new = set_compute(project, asked["expected_compute"])
        lines += [Line("expected_compute", old, new)] if old != new else []
    if "milestones" in asked:
        lines += [Line("milestone", old, new) for old, new in set_milestones(project, asked["milestones"])]
    return lines


def edited(project: Project, lines: Sequence[Line]) -> audit.Change:
    """What the audit log keeps of these changes."""
    before, after = [(line.field, line.before) for line in lines], [(line.field, line.after) for line in lines]
    return audit.Change(project, _grouped(before), _grouped(after))


def _grouped(values: list[tuple[str, Any]]) -> dict[str, Any]:
    """By field; the milestones as a list."""
    grouped: dict[str, Any] = {field: value for field, value in values if field != "milestone"}
    milestones = [value for field, value in values if field == "milestone"]
    return {**grouped, "milestones": milestones} if milestones else grouped


def require_open(here: policies.Standing, project: Project, changes: Facts) -> None:
    """Whether anything of the project may be changed by this person, and now. Raises ``Forbidden``, ``NotEditable``."""
    if not (here.may("edit") or here.may("reclassify")):
        policies.judge(here, "edit")
    if project.state not in policies.EDITABLE:
        raise not_editable(project, changes)


def require_rights(here: policies.Standing, project: Project, changed: set[str]) -> None:
    """Judge by what really differs: a form sends all fields, and an unchanged one takes no right."""
    classifying = classified(project, changed)
    if classifying:
        policies.judge(here, "reclassify")
    if changed - classifying or not changed:
        policies.judge(here, "edit")


def classified(project: Project, changed: set[str]) -> set[str]:
    """Of these fields those that an approval fixed."""
    return changed & CLASSIFYING if project.state != ProjectState.DRAFT else set()


def require_same(seen: str, now: str) -> None:
    """Raises ``ContentChanged`` where the content that was looked at is not the one that is there."""
    if seen != now:
        raise ContentChanged(data={"changed": changed_fields(seen, now), "content": now})


def areas_by_name() -> Areas:
    return {area.name: area for area in ResearchArea.objects.all()}


def _assign(project: Project, asked: Facts, areas: Areas) -> None:
    """Put what was stated on the row, unsaved. Raises ``Invalid`` for an area that is not there."""
    for field in SCALARS:
        if field in asked and field != "area":
            setattr(project, field, asked[field])  # type: ignore[literal-required]
    if "area" in asked:
        project.area = _area(asked["area"], areas)


def _area(name: str | None, areas: Areas) -> ResearchArea | None:
    if not name:
        return None
    if name in areas:
        return areas[name]
    allowed = ", ".join(sorted(areas)) or _("none yet")
    text = _("There is no research area “%(name)s”; there are: %(allowed)s.")
    raise Invalid({"area": text % {"name": name[:60], "allowed": allowed}})


def _scalars(project: Project) -> dict[str, Any]:
    values = {field: getattr(project, field) for field in SCALARS if field != "area"}
    return {**values, "area": project.area.name if project.area else None}


@contextmanager
def _name_is_free(project: Project) -> Iterator[None]:
    """The database says whether a name is taken: two at the same moment cannot both have it."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        if getattr(diagnosis, "constraint_name", None) != _NAME_TAKEN:
            raise
        raise Invalid({"name": name_taken(project.name)}) from error


def name_taken(name: str) -> str:
    """The refusal of a name that another project has."""
    return _("A project named “%(name)s” exists already. Choose another name.") % {"name": name}


def not_editable(project: Project, changes: Facts) -> NotEditable:
    """The refusal of a change in this state, saying what helps."""
    state = ProjectState(project.state)
    text = _("Nothing can be changed while the project is %(state)s.") % {"state": state.label}
    if state == ProjectState.SUBMITTED:
        text += " " + _("Withdraw it first, or ask the approver to return it.")
    return NotEditable(text, data={"state": project.state, "fields": sorted(changes)})
