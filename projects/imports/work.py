"""The work behind an import: checking, applying, undoing. Each may be started again at any time, after a crash too.

A run takes a number first; one that was started before the newest writes nothing any more.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

import structlog
from celery import current_app
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import override

from inventory.models import GpuModel
from kernel import audit, clock
from kernel.errors import LockTimeout, PortalError
from kernel.origin import Origin, origin
from kernel.states import transition
from kernel.unit import lock, unit_of_work
from projects.imports import report
from projects.imports.checking import Judged, Progress, judge
from projects.imports.reading import UnknownColumns, read
from projects.imports.writes import write
from projects.models import ImportRow, Project, ProjectImport, RowKind
from projects.services.acts import as_now
from projects.services.course import project_close_untouched
from projects.states import ImportState, ProjectState

KEPT = timedelta(days=30)
"""For so long the file itself is kept."""
STUCK_AFTER = timedelta(minutes=2)
MOST_RUNS = 5
"""After so many starts without an end, a file is given up."""
TASKS = {"check": "projects.import_check", "apply": "projects.import_apply", "undo": "projects.import_undo"}
_WORK_OF = {
    ImportState.UPLOADED: "check",
    ImportState.CHECKING: "check",
    ImportState.APPLYING: "apply",
    ImportState.UNDOING: "undo",
}
_NAME_ONCE = "project_name_once"
_log = structlog.get_logger(__name__)


def send(what: str, import_id: int) -> None:
    """Start the task. What cannot be sent now, ``resume_stuck`` sends later."""
    current_app.send_task(TASKS[what], args=(import_id,), queue="dispatch", retry=False)


def resume_stuck(now: datetime) -> None:
    """Start again whatever has shown no life for a while."""
    stuck = ProjectImport.objects.filter(state__in=list(_WORK_OF), touched_at__lt=now - STUCK_AFTER)
    for pk, state in stuck.values_list("pk", "state"):
        send(_WORK_OF[ImportState(state)], pk)


def forget_files(now: datetime) -> int:
    """Delete the files of imports that are old; those not finished are put away with them. Returns how many."""
    old = ProjectImport.objects.filter(content__isnull=False, created_at__lt=now - KEPT)
    done = 0
    for pk in old.values_list("pk", flat=True)[:1000]:
        with unit_of_work():
            row: ProjectImport = lock({ProjectImport: [pk]})[ProjectImport][pk]
            row.content = None
            if "discard" in ProjectImport.machine.events(row.state):
                row.finished_at = now
                transition(row, "discard", actor=None, fields=["content", "finished_at"])
            else:
                row.save(update_fields=["content"])
            done += 1
    return done


def check(import_id: int) -> None:
    """Judge every row and keep the report."""
    row = _start(import_id, (ImportState.UPLOADED, ImportState.CHECKING), "start_check")
    if row is not None:
        _guarded(row, _check)


def apply(import_id: int) -> None:
    """Judge again, and write everything if all came out as the check said; else nothing."""
    row = _start(import_id, (ImportState.APPLYING,))
    if row is not None:
        _guarded(row, _apply)


def undo(import_id: int) -> None:
    """Close what came of the import and is as it came. Each project alone: one that was changed stays."""
    row = _start(import_id, (ImportState.UNDOING,))
    if row is not None:
        _guarded(row, _undo)


def _start(import_id: int, states: tuple[ImportState, ...], event: str = "") -> ProjectImport | None:
    """The import with a new number, if there is this work to do."""
    with unit_of_work():
        row: ProjectImport = lock({ProjectImport: [import_id]})[ProjectImport][import_id]
        if row.state not in states:
            return None
        row.run, row.touched_at = row.run + 1, clock.now()
        if event:
            transition(row, event, actor=None, fields=["run", "touched_at"])
        else:
            row.save(update_fields=["run", "touched_at"])
    return row


def _guarded(row: ProjectImport, act: Callable[[ProjectImport], None]) -> None:
    """In its owner's language; whatever goes wrong ends as a sentence on the import, never as one that hangs."""
    with override(row.language), origin(Origin("task")):
        try:
            if row.run > MOST_RUNS:
                raise PortalError(_("The portal began this %(count)s times and did not end.") % {"count": MOST_RUNS})
            act(row)
        except LockTimeout:
            raise
        except UnknownColumns as refusal:
            _fail(row, [refusal.message], unknown=refusal.names)
        except PortalError as refusal:
            _fail(row, [refusal.message])
        except Exception:  # noqa: BLE001 - the edge of the work on one file
            _log.exception("project_import_failed", project_import=row.pk)
            _fail(row, [_("Something went wrong in the portal; its log has the cause. Nothing was imported.")])


def _fail(row: ProjectImport, faults: list[str], *, unknown: list[str] | None = None) -> None:
    with unit_of_work():
        now = _current(row)
        if now is not None and "fail" in ProjectImport.machine.events(now.state):
            now.faults, now.unknown_columns, now.finished_at = faults, unknown or [], clock.now()
            transition(now, "fail", actor=None, fields=["faults", "unknown_columns", "finished_at"])


def _current(row: ProjectImport) -> ProjectImport | None:
    """The import locked, if this run is still the newest."""
    now: ProjectImport = lock({ProjectImport: [row.pk]})[ProjectImport][row.pk]
    return now if now.run == row.run and now.state == row.state else None


def _judged(row: ProjectImport, told: Progress) -> list[Judged]:
    """Every row of the file as it comes out now. Sets encoding and delimiter on the import (unsaved)."""
    owner = as_now(row.owner)
    models = GpuModel.objects.order_by("name").values_list("name", flat=True)
    sheet, head = read(bytes(row.content or b""), models, ignores_unknown=row.ignores_unknown)
    row.encoding, row.delimiter, row.unknown_columns = sheet.encoding, sheet.delimiter, head.unknown
    ProjectImport.objects.filter(pk=row.pk, run=row.run).update(rows_total=len(sheet.rows), rows_done=0)
    return judge(owner, sheet, head, told)


def _check(row: ProjectImport) -> None:
    def told(done: int) -> None:
        ProjectImport.objects.filter(pk=row.pk, run=row.run).update(rows_done=done, touched_at=clock.now())

    rows = [report.row_of(row, judged) for judged in _judged(row, told)]
    with unit_of_work():
        now = _current(row)
        if now is None:
            return
        report.keep(now, rows)
        now.encoding, now.delimiter, now.unknown_columns = row.encoding, row.delimiter, row.unknown_columns
        now.faults, now.finished_at = [], None
        fields = ["encoding", "delimiter", "unknown_columns", "faults", "finished_at", *report.COUNTS]
        transition(now, "finish_check", actor=None, fields=fields)


def _apply(row: ProjectImport) -> None:
    kept = {line.line: line for line in ImportRow.objects.filter(of=row)}
    changed = [line.project_id for line in kept.values() if line.kind == RowKind.CHANGED]
    with unit_of_work():
        now: ProjectImport = lock({ProjectImport: [row.pk], Project: changed})[ProjectImport][row.pk]
        if now.run != row.run or now.state != ImportState.APPLYING:
            return
        judged = _judged(row, _silent)
        lines = [report.row_of(row, one) for one in judged]
        if report.overtaken(kept, lines) or not _written(row, judged):
            _report_overtaken(now, kept)
            return
        _finish(now, judged)


def _silent(done: int) -> None:
    """Inside of a transaction nobody would see it."""


def _written(row: ProjectImport, judged: list[Judged]) -> bool:
    """Whether all could be written; not where somebody took a name at this very moment."""
    wanted = [one for one in judged if one.kind in (RowKind.NEW, RowKind.CHANGED)]
    try:
        with transaction.atomic():
            write(wanted, as_now(row.owner))
    except IntegrityError as error:
        if getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) != _NAME_ONCE:
            raise
        return False
    return True


def _report_overtaken(now: ProjectImport, kept: dict[int, ImportRow]) -> None:
    """Nothing was written. The report shows every row as it comes out now, and which of them came out otherwise."""
    lines = [report.row_of(now, one) for one in _judged(now, _silent)]
    found = report.overtaken(kept, lines)
    report.keep(now, lines)
    text = _("Nothing was imported: since the check, %(count)s rows come out otherwise. They are marked below.")
    now.faults, now.finished_at = [text % {"count": len(found)}], clock.now()
    transition(now, "fail", actor=None, fields=["faults", "finished_at", *report.COUNTS])


def _finish(now: ProjectImport, judged: list[Judged]) -> None:
    made = {one.line: one.project for one in judged if one.kind == RowKind.NEW}
    rows = list(ImportRow.objects.filter(of=now, line__in=list(made)))
    for line in rows:
        line.project = made[line.line]
    ImportRow.objects.bulk_update(rows, ["project"], batch_size=report.BATCH)
    counts = {"new": now.new, "changed": now.changed, "left_out": now.refused, "file": now.file_name}
    audit.record("projects.imported", actor=now.owner, subject=now, after=counts)
    now.finished_at = clock.now()
    transition(now, "finish", actor=None, data=counts, fields=["finished_at"])


def _undo(row: ProjectImport) -> None:
    owner = as_now(row.owner)
    # What an earlier run closed before it was lost is done, and not among what was left.
    made = ImportRow.objects.filter(of=row, kind=RowKind.NEW, project__isnull=False)
    made = made.exclude(project__state=ProjectState.CLOSED)
    reason = _("Imported from %(file)s and discarded again.") % {"file": row.file_name}
    left = 0
    for pk in made.values_list("project_id", flat=True):
        left += not project_close_untouched(actor=owner, project_id=pk, reason=reason)
    with unit_of_work():
        now = _current(row)
        if now is None:
            return
        text = _("%(count)s projects were left as they are: somebody worked on them since.")
        now.faults, now.finished_at = [text % {"count": left}] if left else [], clock.now()
        transition(now, "finish_undo", actor=None, fields=["faults", "finished_at"])
