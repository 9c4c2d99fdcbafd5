"""How the form is kept while one types: which draft a page works on, and what else of the person's is unfinished."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID, uuid4

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import form_drafts
from kernel.errors import PortalError
from kernel.form_drafts import Kind, Typed, Unfinished, first
from kernel.models import FormDraft

NEW, EDIT = "projects.register", "projects.edit"
_SUBJECT = "project:"
_ID_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Keeping:
    """What ``data-autosave`` needs. ``key`` is also the sending's own: the same form sent twice acts once."""

    key: UUID
    form: str
    subject: str = ""
    version: int = 0
    seen: str = ""
    writer: str = ""
    others: Sequence[Unfinished] = ()
    """Unfinished forms of the same kind that this page does not show."""


def subject_of(project_id: int) -> str:
    return f"{_SUBJECT}{project_id}"


def opened(request: HttpRequest, person: Person, keeping: Keeping) -> tuple[Keeping, FormDraft | None]:
    """The draft that ``?draft=`` names, or a form of its own. Raises ``NotFound`` for a draft that is gone."""
    drafts = form_drafts.of_form(person.pk, keeping.form, keeping.subject)
    asked = as_key(request.GET.get("draft"))
    draft = next((row for row in drafts if row.key == asked), None)
    if asked is not None and draft is None:
        draft = form_drafts.one(person.pk, asked)
    if draft is not None:
        seen = draft.seen or keeping.seen
        keeping = replace(keeping, key=draft.key, version=draft.version, seen=seen)
    others = tuple(form_drafts.line(row) for row in drafts if row.key != keeping.key)
    return replace(keeping, others=others), draft


def sent(request: HttpRequest, keeping: Keeping) -> Keeping:
    """The form that was sent, as its hidden fields name it; one without a key gets one."""
    version = request.POST.get("_version", "")
    return replace(
        keeping,
        key=as_key(request.POST.get("_key")) or keeping.key,
        version=int(version) if version.isascii() and version.isdigit() and len(version) <= 9 else 0,
        seen=request.POST.get("seen", "")[: form_drafts.MAX_SEEN],
        writer=request.POST.get("_writer", ""),
    )


def refused(request: HttpRequest, person: Person, keeping: Keeping) -> Keeping:
    """Keep what was sent and could not be taken, so that leaving now loses nothing.

    What another page has saved meanwhile is left as it is: the next save from here says so.
    """
    typed = Typed(
        keeping.form,
        form_drafts.plain(request.POST.lists()),
        keeping.subject,
        keeping.seen,
        keeping.version,
        keeping.writer,
    )
    try:
        draft = form_drafts.save(owner_id=person.pk, key=keeping.key, typed=typed)
    except PortalError:
        return keeping
    return replace(keeping, version=draft.version)


def fresh(form: str, subject: str = "", seen: str = "") -> Keeping:
    return Keeping(uuid4(), form, subject, seen=seen)


def as_key(text: str | None) -> UUID | None:
    try:
        return UUID(text or "")
    except ValueError:
        return None


def describe_forms() -> None:
    """Called once the rooms are ready."""
    form_drafts.describe(NEW, Kind(_title, _new_address, lambda draft: reverse("projects:new")))
    form_drafts.describe(EDIT, Kind(_title, _edit_address, _edit_start))


def _title(draft: FormDraft) -> str:
    name = " ".join(first(draft.data, "name").split()) or _("Project without a name")
    return name if draft.form == NEW else _("Changes to “%(project)s”") % {"project": name}


def _new_address(draft: FormDraft) -> str:
    return f"{reverse('projects:new')}?draft={draft.key}"


def _edit_start(draft: FormDraft) -> str:
    # The subject is what a page sent: one that names no project leads to one that is not there.
    number = draft.subject.removeprefix(_SUBJECT)
    is_id = number.isascii() and number.isdigit() and len(number) <= _ID_DIGITS
    return reverse("projects:edit", args=[int(number) if is_id else 0])


def _edit_address(draft: FormDraft) -> str:
    return f"{_edit_start(draft)}?draft={draft.key}"
