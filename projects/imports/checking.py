"""Judging a file row by row, by the rules of registering and editing by hand. Writes nothing.

Every row is judged on the registry as it is, not as other rows of the file would leave it: a name that another row
would give free is taken until then.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import clock
from kernel.errors import Invalid, PortalError
from kernel.ids import id_in
from projects.facts import Facts, tidied
from projects.imports.columns import PARTS, Head, compute_key
from projects.imports.sheet import Cell, Sheet, SheetRow
from projects.imports.snapshot import Ground, Known, Names, ground_for, names_for
from projects.imports.values import Stated, compute_asked, stated
from projects.imports.writing import is_as_written
from projects.models import Project, RowKind
from projects.services.drafts import Line, differences, name_taken, require_open, require_rights
from projects.services.parts import ComputePlan, MilestonePlan, plan_compute, plan_milestones

Fault = tuple[str, str, str]
"""Column, value, sentence."""
Progress = Callable[[int], None]
STEP = 500


@dataclass(slots=True)
class Judged:
    """What one row would do. ``project`` carries its new values, unsaved; the plans are of its own rows."""

    line: int
    name: str = ""
    known: Known | None = None
    project: Project | None = None
    lead: Person | None = None
    scalars: Sequence[Line] = ()
    compute: ComputePlan | None = None
    milestones: MilestonePlan | None = None
    faults: list[Fault] = field(default_factory=list)

    @property
    def kind(self) -> RowKind:
        if self.faults:
            return RowKind.REFUSED
        if self.known is None:
            return RowKind.NEW
        return RowKind.CHANGED if self.lines() else RowKind.UNCHANGED

    def lines(self) -> list[Line]:
        """What changes, as the history will say it."""
        lines = list(self.scalars)
        if self.compute is not None and self.compute.before != self.compute.after:
            lines.append(Line("expected_compute", self.compute.before, self.compute.after))
        if self.milestones is not None:
            lines += [Line("milestone", before, after) for before, after in self.milestones.lines()]
        return lines


@dataclass(frozen=True, slots=True)
class _Read:
    """A row between reading and judging: its texts are values now."""

    row: SheetRow
    known: Known | None
    stated: Stated
    facts: Facts | None
    """Tidy, or None where a value cannot be taken."""


def judge(owner: Person, sheet: Sheet, head: Head, told: Progress) -> list[Judged]:
    """Each row of the file, in its order. ``told`` hears now and then how many are done."""
    ids = {pk for row in sheet.rows if (pk := _id(_cell(row, head, "id"))) is not None}
    ground = ground_for(owner, ids)
    read = [_read(row, head, ground) for row in _counted(sheet.rows, told)]
    names = [row.facts["name"] for row in read if row.facts and row.facts.get("name")]
    found = names_for(names, {row.stated.lead for row in read if row.stated.lead})
    judged = [_judged(row, ground, found) for row in read]
    _refuse_doubles(judged, read, found)
    return judged


def _counted(rows: Sequence[SheetRow], told: Progress) -> Iterable[SheetRow]:
    for done, row in enumerate(rows):
        if done % STEP == 0:
            told(done)
        yield row


def _cell(row: SheetRow, head: Head, column: str) -> Cell:
    place = head.places.get(column)
    return row.cells[place] if place is not None and place < len(row.cells) else ""


def _id(cell: Cell) -> int | None:
    return id_in(cell.strip()) if isinstance(cell, str) else None


def _read(row: SheetRow, head: Head, ground: Ground) -> _Read:
    cells = {column: _cell(row, head, column) for column in head.places}
    said = cells.pop("id", "")
    known = ground.known.get(_id(said) or 0)
    if known is not None:
        # A cell that says what the export writes of the project states nothing, whatever else it could mean.
        now = known.cells
        cells = {column: cell for column, cell in cells.items() if not _is_now(cell, now.get(column))}
    meant = stated(cells, ground.catalogue)
    if known is None and said != "":
        text = said if isinstance(said, str) else said.shown
        meant.refuse("id", text, _("There is no project %(id)s.") % {"id": text.strip()[:60]})
    before = (
        {asked.gpu_model.name: {part: getattr(asked, part) for part in PARTS} for asked in known.compute}
        if known
        else {}
    )
    compute = compute_asked(meant, before, ground.catalogue.gpu_models)
    if compute is not None:
        meant.facts["expected_compute"] = compute
    return _Read(row, known, meant, _tidy(meant, ground))


def _is_now(cell: Cell, value: str | int | None) -> bool:
    return isinstance(cell, str) and is_as_written(cell, value)


def _tidy(meant: Stated, ground: Ground) -> Facts | None:
    try:
        return tidied(meant.facts, today=ground.today)
    except Invalid as refusal:
        meant.faults += _faults_of(refusal, meant.facts)
        return None


def _faults_of(refusal: Invalid, facts: Facts) -> list[Fault]:
    """The sentences of a rule, each at the column that holds the value."""
    given: Any = facts
    faults = []
    for key, texts in refusal.errors.items():
        column, *place = key.split(".")
        value = given.get(column, "")
        if place and place[0].isdigit():
            value = value[int(place[0])]
        if column == "expected_compute" and place:
            column, value = compute_key(value.gpu_model, "target"), f"{value.min}, {value.target}, {value.max}"
        elif column == "milestones" and place:
            value = f"{value.due_on} {value.name}"
        faults += [(column, str(value)[:60], text) for text in texts]
    return faults


def _judged(read: _Read, ground: Ground, found: Names) -> Judged:
    result = Judged(read.row.line, _shown_name(read), read.known, faults=read.stated.faults)
    if read.facts is None:
        return result
    try:
        _plan(result, read.facts, ground)
    except Invalid as refusal:
        result.faults += _faults_of(refusal, read.facts)
        return result
    _judge_name(result, read.facts, found)
    _judge_lead(result, read, ground, found)
    if read.known is not None and not result.faults:
        _judge_rights(result, read.known, read.facts)
    return result


def _shown_name(read: _Read) -> str:
    stated_name = str((read.facts or read.stated.facts).get("name", ""))[:200]
    return stated_name or (read.known.project.name if read.known else "")


def _plan(result: Judged, facts: Facts, ground: Ground) -> None:
    known, now = result.known, clock.now()
    project = known.project if known else Project(created_by=ground.owner, created_at=now, updated_at=now)
    result.project = project
    result.scalars = differences(project, facts, ground.areas)
    if known is None:
        result.scalars = [line for line in result.scalars if line.after not in ("", None, [])]
    if "expected_compute" in facts:
        kept = known.compute if known else ()
        result.compute = plan_compute(project, kept, facts["expected_compute"], ground.gpu_models)
    if "milestones" in facts:
        result.milestones = plan_milestones(project, known.milestones if known else (), facts["milestones"])


def _judge_name(result: Judged, facts: Facts, found: Names) -> None:
    name = facts.get("name")
    if not name:
        return
    holder = found.taken.get(found.lowered[name])
    if holder is not None and (result.known is None or holder != result.known.project.pk):
        result.faults.append(("name", name[:60], name_taken(name)))


def _judge_lead(result: Judged, read: _Read, ground: Ground, found: Names) -> None:
    username = read.stated.lead
    if not username:
        result.lead = ground.owner if read.known is None else None
        return
    person = found.people.get(username.casefold())
    why = ""
    if person is None:
        why = _("Nobody has the user name “%(name)s”.") % {"name": username[:60]}
    elif read.known is not None:
        if person.username not in read.known.leads:
            why = _("An import does not change the team of a project. Name another lead on its page.")
    elif not person.is_active:
        why = _("The account of %(name)s is deactivated.") % {"name": person}
    elif person.pk != ground.owner.pk and not ground.may_name_leads:
        why = _("Only an admin registers projects for others; leave this empty to lead the project yourself.")
    if why:
        result.faults.append(("lead", username[:60], why))
    elif read.known is None:
        result.lead = person


def _judge_rights(result: Judged, known: Known, facts: Facts) -> None:
    """A row that changes nothing takes no right; any other what an edit by hand takes."""
    lines = result.lines()
    if not lines:
        return
    try:
        require_open(known.here, known.project, facts)
        require_rights(known.here, known.project, {line.field for line in lines})
    except PortalError as refusal:
        result.faults.append(("", "", refusal.message))


def _refuse_doubles(judged: Sequence[Judged], read: Sequence[_Read], found: Names) -> None:
    """Of rows that name the same project, or take the same name, the first counts."""
    by_id: dict[int, int] = {}
    by_name: dict[str, int] = {}
    for result, row in zip(judged, read, strict=True):
        if row.known is not None:
            first = by_id.setdefault(row.known.project.pk, result.line)
            _refuse_double(result, first, "id", str(row.known.project.pk))
        name = row.facts.get("name") if row.facts else None
        if name:
            first = by_name.setdefault(found.lowered[name], result.line)
            _refuse_double(result, first, "name", name)


def _refuse_double(result: Judged, first: int, column: str, value: str) -> None:
    if first != result.line:
        why = _("Row %(line)s has this already.") % {"line": first}
        result.faults.append((column, value[:60], why))
