"""How an entry of the audit log is told in one line: what was done, to what, and what it changed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from accounts.audit_words import action_words, kind_words
from kernel.models import AuditEntry

# Subjects by the name of their page and the field that names them. Upper rooms are known by their labels only.
_PAGES = {
    "accounts.announcement": ("accounts:announcement", "title"),
    "accounts.person": ("accounts:person", "display_name"),
    "inventory.node": ("inventory:node", "name"),
    "projects.project": ("project", "name"),
    "scheduling.job": ("scheduling:job", "name"),
}
_NAMED = {"inventory.gpumodel": "name", "inventory.pool": "title", "projects.researcharea": "title"}
_IN_SUMMARY = 3
_SUMMARY_VALUE = 40
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that the act changed, both values in words."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AuditLine:
    """``url`` is empty where the subject has no page of its own; ``differences`` holds changed fields only."""

    entry: AuditEntry
    action: str
    subject: str
    url: str
    differences: tuple[Difference, ...]

    @property
    def summary(self) -> str:
        """The first changes, cut to fit a line: what became something else before what is new, long values last."""
        ranked = sorted(self.differences, key=lambda row: (len(row.after) > _SUMMARY_VALUE, row.before == NOTHING))
        told = [_told(row) for row in ranked[:_IN_SUMMARY]]
        rest = len(self.differences) - len(told)
        return ", ".join([*told, _("%(count)s more") % {"count": rest}] if rest else told)


def audit_lines(entries: Sequence[AuditEntry]) -> list[AuditLine]:
    """The entries as lines, in their order. One query for each kind of subject that has a name."""
    names = _names(entries)
    return [
        AuditLine(
            entry=entry,
            action=action_words(entry.action),
            subject=names.get((entry.subject_type, entry.subject_id)) or _numbered(entry),
            url=_url(entry),
            differences=differences(entry.before, entry.after),
        )
        for entry in entries
    ]


def differences(before: Any, after: Any) -> tuple[Difference, ...]:
    """What differs between two recorded states, in the order of the later one."""
    old, new = _fields(before), _fields(after)
    names = [*new, *(name for name in old if name not in new)]
    rows = (Difference(_label(name), value_words(old.get(name)), value_words(new.get(name))) for name in names)
    return tuple(row for row in rows if row.before != row.after)


def value_words(value: Any) -> str:
    """A recorded value as people write it: a dash for nothing, yes and no, lists by commas."""
    if value is None or value == "" or value == [] or value == {}:
        return NOTHING
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list) and not any(isinstance(part, list | dict) for part in value):
        return ", ".join(value_words(part) for part in value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _label(name: str) -> str:
    return name.replace("_", " ")


def _told(row: Difference) -> str:
    after = Truncator(row.after).chars(_SUMMARY_VALUE)
    if row.before == NOTHING:
        return f"{row.name} {after}"
    return f"{row.name} {Truncator(row.before).chars(_SUMMARY_VALUE)} → {after}"


def _fields(state: Any) -> Mapping[str, Any]:
    return state if isinstance(state, dict) else {}


def _numbered(entry: AuditEntry) -> str:
    return f"{kind_words(entry.subject_type)} {entry.subject_id}"


def _url(entry: AuditEntry) -> str:
    """A claim has no page of its own; its project's ledger tells of it."""
    project = _fields(entry.after).get("project")
    if entry.subject_type == "quotas.claim" and isinstance(project, int):
        return reverse("quotas:project", args=[project])
    return subject_url(entry.subject_type, entry.subject_id)


def subject_url(kind: str, pk: str) -> str:
    """The page of what a row of this kind and id stands for; empty where it has none."""
    page = _PAGES.get(kind)
    return reverse(page[0], args=[pk]) if page and pk.isdecimal() else ""


def _names(entries: Iterable[AuditEntry]) -> dict[tuple[str, str], str]:
    """What the subjects are called today."""
    fields = _NAMED | {kind: field for kind, (_page, field) in _PAGES.items()}
    wanted: dict[str, set[int]] = {}
    for entry in entries:
        if entry.subject_type in fields and entry.subject_id.isdecimal():
            wanted.setdefault(entry.subject_type, set()).add(int(entry.subject_id))
    return {
        (kind, str(pk)): name
        for kind, ids in wanted.items()
        for pk, name in apps.get_model(kind)._default_manager.filter(pk__in=ids).values_list("pk", fields[kind])
    }
