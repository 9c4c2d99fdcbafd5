"""Forms that are saved as one types and gone on with later, on any machine.

A room that has such a form says, in ``AppConfig.ready``, what its drafts are called and where they are gone on with
(``describe``). The page marks the form with ``data-autosave`` (docs/screens.md); what it keeps is raw text, valid or
not. Nothing of it reaches a record before the form is sent: then the room's service does its act and calls ``finish``
in the same unit of work.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kernel import clock
from kernel.api.parsers import is_storable
from kernel.errors import Conflict, Invalid, NotFound, TooLarge
from kernel.models import FormDraft

MAX_BYTES = 64 * 1024
MAX_DRAFTS = 50
MAX_SEEN, MAX_WRITER, MAX_SUBJECT = 200, 40, 100
Data = Mapping[str, Sequence[str]]

_SLUG = re.compile(r"[a-z]+(?:[.-][a-z]+)*")
_NEVER_KEPT = re.compile(r"csrf|passw|token|secret", re.IGNORECASE)


class ContinuedElsewhere(Conflict):
    """Another page has saved this form since. ``data``: version, saved_at."""

    code = "continued_elsewhere"
    title = gettext_lazy("This form was continued on another page or machine")


class TooManyDrafts(Conflict):
    code = "too_many_drafts"
    title = gettext_lazy("There are too many unfinished forms. Send or discard one of them.")


@dataclass(frozen=True, slots=True)
class Typed:
    """What a page sends to be kept. ``version``: of the draft it knows, 0 for none; ``writer``: the page's own mark."""

    form: str
    data: Data
    subject: str = ""
    seen: str = ""
    version: int = 0
    writer: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """How drafts of a form are shown in lists: what they are called, and where they are gone on with or begun anew."""

    title: Callable[[FormDraft], str]
    address: Callable[[FormDraft], str]
    start: Callable[[FormDraft], str]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """One line of a list of unfinished forms."""

    key: UUID
    form: str
    title: str
    address: str
    saved_at: datetime


_kinds: dict[str, Kind] = {}


def describe(form: str, kind: Kind) -> None:
    """Register a form, in ``AppConfig.ready``. Drafts of a form that nobody registered are refused."""
    _kinds[form] = kind


def kind_of(draft: FormDraft) -> Kind:
    return _kinds[draft.form]


def save(*, owner_id: int, key: UUID, typed: Typed) -> FormDraft:
    """Keep what was typed, over the version that the page knows.

    Raises ``ContinuedElsewhere`` if another page saved since, ``NotFound`` for a draft that is gone or another
    person's, ``TooManyDrafts``, ``TooLarge``, ``Invalid``.
    """
    values = {
        "data": _checked(typed),
        "seen": typed.seen[:MAX_SEEN],
        "writer": typed.writer[:MAX_WRITER],
        "saved_at": clock.now(),
    }
    mine = FormDraft.objects.filter(key=key, owner_id=owner_id, form=typed.form, subject=typed.subject)
    same = Q(version=typed.version) | (Q(writer=values["writer"]) & ~Q(writer=""))
    # One statement compares and writes: of two pages that save at the same moment one is told.
    if not mine.filter(same).update(**values, version=F("version") + 1):
        if typed.version == 0 and not FormDraft.objects.filter(key=key).exists():
            _insert(owner_id, key, typed, values)
        else:
            _refuse(mine)
    return mine.get()


def own(owner_id: int) -> QuerySet[FormDraft]:
    """A person's drafts, the latest first. Every query for a person starts here."""
    return FormDraft.objects.filter(owner_id=owner_id, form__in=_kinds).order_by("-saved_at", "-pk")


def one(owner_id: int, key: UUID) -> FormDraft:
    """Raises ``NotFound`` for what is gone, or another person's."""
    draft = own(owner_id).filter(key=key).first()
    if draft is None:
        raise NotFound(_("This unfinished form is not kept any more: it was sent or discarded."))
    return draft


def of_form(owner_id: int, form: str, subject: str = "") -> list[FormDraft]:
    """A person's drafts of one form about one subject, the latest first."""
    return list(own(owner_id).filter(form=form, subject=subject))


def unfinished(owner_id: int, form: str | None = None) -> list[Unfinished]:
    """A person's drafts as lists show them, of one form or of all. One statement."""
    rows = own(owner_id) if form is None else own(owner_id).filter(form=form)
    return [line(draft) for draft in rows]


def line(draft: FormDraft) -> Unfinished:
    """One draft as lists show it."""
    kind = kind_of(draft)
    return Unfinished(draft.key, draft.form, kind.title(draft), kind.address(draft), draft.saved_at)


def discard(*, owner_id: int, key: UUID) -> None:
    """Forget a draft. Raises ``NotFound``."""
    one(owner_id, key).delete()


def finish(*, owner_id: int, key: UUID, form: str, subject: str = "") -> None:
    """The form was sent: forget its draft; about a subject that exists, every draft of it. In the act's own unit."""
    rows = FormDraft.objects.filter(owner_id=owner_id, form=form)
    (rows.filter(subject=subject) if subject else rows.filter(key=key)).delete()


def first(data: Data, name: str) -> str:
    """The value of a field that has one, or nothing."""
    values = data.get(name) or [""]
    return values[0]


def plain(lists: Iterable[tuple[str, Sequence[object]]]) -> dict[str, list[str]]:
    """What a sent form holds (``request.POST.lists()``), as a draft keeps it; ``_names`` are the form's own."""
    return {name: [str(value) for value in values] for name, values in lists if not name.startswith("_")}


def _checked(typed: Typed) -> dict[str, list[str]]:
    """What may be kept of it. Raises ``Invalid`` and ``TooLarge``."""
    if typed.form not in _kinds or not _SLUG.fullmatch(typed.form):
        raise Invalid({"form": _("There is no form “%(name)s” whose drafts are kept.") % {"name": typed.form[:60]}})
    if len(typed.subject) > MAX_SUBJECT or not is_storable(typed.subject + typed.seen + typed.writer):
        raise Invalid({"subject": _("This cannot be kept.")})
    kept = {name: list(values) for name, values in typed.data.items() if not _NEVER_KEPT.search(name)}
    texts = [*kept, *(value for values in kept.values() for value in values)]
    if not all(is_storable(text) for text in texts):
        raise Invalid({"data": _("NUL characters and half surrogate pairs are not allowed.")})
    if len(json.dumps(kept, ensure_ascii=False).encode()) > MAX_BYTES:
        raise TooLarge(data={"max_bytes": MAX_BYTES})
    return kept


def _insert(owner_id: int, key: UUID, typed: Typed, values: dict[str, object]) -> None:
    if FormDraft.objects.filter(owner_id=owner_id).count() >= MAX_DRAFTS:
        raise TooManyDrafts(data={"max": MAX_DRAFTS})
    place = {"key": key, "owner_id": owner_id, "form": typed.form, "subject": typed.subject}
    row = FormDraft(created_at=clock.now(), **place, **values)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        _refuse(FormDraft.objects.filter(**place))


def _refuse(mine: QuerySet[FormDraft]) -> None:
    """Say why nothing was written: somebody was faster, or there is nothing to write over."""
    other = mine.first()
    if other is None:
        raise NotFound(_("This unfinished form is not kept any more: it was sent or discarded."))
    raise ContinuedElsewhere(data={"version": other.version, "saved_at": other.saved_at.isoformat()})
