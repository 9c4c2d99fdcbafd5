"""The intentions of whoever imports: each is one short transaction, and the work behind it a task."""

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import audit, clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.states import transition
from kernel.unit import lock, unit_of_work
from projects import policies
from projects.imports.reading import require_size
from projects.imports.sheet import FileRefused, printable
from projects.imports.work import send
from projects.models import ProjectImport
from projects.services.acts import as_now
from projects.states import ImportState

MOST_OPEN = 20
"""Imports of one person that are neither applied nor discarded."""
OPEN = (ImportState.UPLOADED, ImportState.CHECKING, ImportState.CHECKED, ImportState.APPLYING, ImportState.FAILED)


def import_upload(
    *, actor: Person | None, file_name: str, content: bytes, ignores_unknown: bool = False
) -> ProjectImport:
    """Take a file and have it checked; nothing is imported. Anybody with an active account may.

    Raises ``Invalid`` for a file that is empty or too large, ``Conflict`` with too many imports open.
    """
    try:
        require_size(len(content))
    except FileRefused as refusal:
        raise Invalid({"file": refusal.message}) from refusal
    with unit_of_work():
        someone, now = as_now(actor), clock.now()
        if ProjectImport.objects.filter(owner=someone, state__in=OPEN).count() >= MOST_OPEN:
            text = _("%(most)s imports are open. Finish or discard one of them first.")
            raise Conflict(text % {"most": MOST_OPEN})
        made = ProjectImport.objects.create(
            owner=someone,
            file_name=printable(" ".join(file_name.split()))[-200:] or _("without a name"),
            content=content,
            ignores_unknown=ignores_unknown,
            language=get_language() or someone.language,
            touched_at=now,
            created_at=now,
        )
        _wake("check", made)
    return made


def import_check_again(*, actor: Person | None, import_id: int, ignores_unknown: bool | None = None) -> ProjectImport:
    """Check the same file once more, as the registry is now. Locks the import."""
    with unit_of_work():
        someone, row = _begin(actor, import_id)
        _require_file(row)
        if ignores_unknown is not None:
            row.ignores_unknown = ignores_unknown
        row.run, row.touched_at, row.language = 0, clock.now(), get_language() or row.language
        fields = ["ignores_unknown", "run", "touched_at", "language"]
        transition(row, "check_again", actor=someone, fields=fields)
        _wake("check", row)
    return row


def import_apply(*, actor: Person | None, import_id: int, leaves_out_refused: bool = False) -> ProjectImport:
    """Write what the check said, whole or not at all. Locks the import.

    Raises ``Conflict`` while rows are refused, unless they are expressly left out; and with nothing to write.
    """
    with unit_of_work():
        someone, row = _begin(actor, import_id)
        ProjectImport.machine.target(row.state, "apply")
        _require_file(row)
        if row.refused and not leaves_out_refused:
            text = _("%(count)s rows are refused. Correct them, or say that they are to be left out.")
            raise Conflict(text % {"count": row.refused})
        if not row.new + row.changed:
            raise Conflict(_("There is nothing to import: no row is new or changes anything."))
        row.leaves_out_refused, row.run, row.touched_at = leaves_out_refused, 0, clock.now()
        transition(row, "apply", actor=someone, fields=["leaves_out_refused", "run", "touched_at"])
        _wake("apply", row)
    return row


def import_discard(*, actor: Person | None, import_id: int) -> ProjectImport:
    """Put a file away that was not applied; it is deleted, the report stays. Locks the import."""
    with unit_of_work():
        someone, row = _begin(actor, import_id)
        row.content, row.finished_at = None, clock.now()
        transition(row, "discard", actor=someone, fields=["content", "finished_at"])
    return row


def import_undo(*, actor: Person | None, import_id: int) -> ProjectImport:
    """Close the drafts that came of an import and were not touched since; what it changed stays. Locks the import."""
    with unit_of_work():
        someone, row = _begin(actor, import_id)
        row.run, row.touched_at = 0, clock.now()
        transition(row, "undo", actor=someone, fields=["run", "touched_at"])
        audit.record("projects.import_undone", actor=someone, subject=row, after={"file": row.file_name})
        _wake("undo", row)
    return row


def _begin(actor: Person | None, import_id: int) -> tuple[Person, ProjectImport]:
    """The import, locked. An import of somebody else is not there."""
    someone = as_now(actor)
    row: ProjectImport = lock({ProjectImport: [import_id]})[ProjectImport][import_id]
    if not policies.visible_imports(someone).filter(pk=row.pk).exists():
        raise NotFound
    return someone, row


def _require_file(row: ProjectImport) -> None:
    if row.content is None:
        raise Conflict(_("The file is not kept any more. Upload it again."))


def _wake(what: str, row: ProjectImport) -> None:
    transaction.on_commit(lambda: send(what, row.pk), robust=True)
