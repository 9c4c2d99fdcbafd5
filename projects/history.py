"""The story of a project: steps of its state, changes of its facts and team, its tiers; merged, in order of time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from kernel.models import StateChange
from kernel.subject import subject_fields
from projects.content import FIELDS
from projects.models import Project, ProjectChange, TierFact

ItemKind = Literal["created", "state", "change", "tier"]
_CONTENT = frozenset(FIELDS) | {"milestone", "member"}
"""What the history calls the parts of the content that an approval holds for."""
_ORDER = {"created": 0, "change": 1, "state": 2, "tier": 3}


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """``what`` is the event of a state step, else the field; values are plain."""

    at: datetime
    kind: ItemKind
    what: str
    who: str
    before: Any
    after: Any
    reason: str = ""


def history(project: Project) -> list[HistoryItem]:
    """Everything that happened to the project, oldest first."""
    items = [*_created(project), *_changes(project), *_steps(project), *_tiers(project)]
    return sorted(items, key=lambda item: (item.at, _ORDER[item.kind]))


def _created(project: Project) -> Iterator[HistoryItem]:
    yield HistoryItem(project.created_at, "created", "created", str(project.created_by), None, None)


def _changes(project: Project) -> Iterator[HistoryItem]:
    for row in ProjectChange.objects.filter(project=project).select_related("by").order_by("id"):
        yield HistoryItem(row.at, "change", row.field, str(row.by), row.before, row.after)


def _steps(project: Project) -> Iterator[HistoryItem]:
    for row in StateChange.objects.filter(**subject_fields(project)).order_by("id"):
        yield HistoryItem(row.at, "state", row.event, row.actor_name, row.from_state, row.to_state, row.reason)


def _tiers(project: Project) -> Iterator[HistoryItem]:
    before = None
    for row in TierFact.objects.filter(project=project).select_related("set_by").order_by("during"):
        yield HistoryItem(row.during.lower, "tier", "tier", str(row.set_by), before, row.tier, row.reason)
        before = row.tier


def changed_between_submissions(story: Sequence[HistoryItem]) -> list[HistoryItem] | None:
    """What of its content changed between the last two submissions; None for a first one."""
    submitted = [index for index, item in enumerate(story) if item.kind == "state" and item.what == "submit"]
    if len(submitted) < 2:
        return None
    between = story[submitted[-2] : submitted[-1]]
    return [item for item in between if item.kind == "change" and item.what in _CONTENT]
