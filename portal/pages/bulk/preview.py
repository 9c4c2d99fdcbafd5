"""What a bulk change would do: each project before and after, and first those that it leaves out, with the reason."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from accounts.models import Person
from portal.pages.allotment import allotments
from portal.pages.bulk.services import stated
from projects.models import Project, ResearchArea, Stage
from projects.policies import visible_to
from projects.services import EditAsked, judge_edits
from projects.states import ProjectState

NO_AREA = "-"
"""Stands for *no area* in an address, where nothing at all is nothing chosen yet."""
Choices = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """``why`` says why the project is left out; empty: it changes, as it is now by its ``content``."""

    pk: int
    name: str
    state: str
    before: str
    after: str
    content: str
    why: str


@dataclass(frozen=True, slots=True)
class Preview:
    changing: Sequence[PreviewRow]
    left_out: Sequence[PreviewRow]
    missing: int
    """Of the rows named, those that are not there for this person."""
    needs_reason: bool
    steps: Sequence[tuple[str, str, int]]
    """From, to, how many."""
    guaranteed: int
    used: float


def choices(field: str) -> Choices:
    """What may be chosen, with its words."""
    if field == "stage":
        return [(str(key), str(label)) for key, label in Stage.choices]
    return [*ResearchArea.objects.order_by("title").values_list("name", "title"), (NO_AREA, _("No area"))]


def value_of(field: str, chosen: str) -> str | None:
    """The choice as the registry's services take it."""
    return None if field == "area" and chosen == NO_AREA else chosen


def preview(person: Person, field: str, chosen: str, ids: Sequence[int]) -> Preview:
    """Judged by the registry's own rules, as things are now. A fixed number of statements, whatever is selected."""
    found = {row.pk: row for row in visible_to(person).filter(pk__in=ids).select_related("area").order_by("name", "pk")}
    words = dict(choices(field))
    before = {pk: _word(field, project, words) for pk, project in found.items()}
    edits = [EditAsked(pk, stated(field, value_of(field, chosen))) for pk in found]
    rows, reasons = [], []
    for judged in judge_edits(person, found, edits):
        project = judged.project
        same = _("It is that already.") if not judged.lines else ""
        why = same or (judged.refusal.message if judged.refusal else "")
        after = before[project.pk] if why else words[chosen]
        state = ProjectState(project.state)
        rows.append(PreviewRow(project.pk, project.name, state, before[project.pk], after, judged.content, why))
        reasons.append(judged.needs_reason and not why)
    changing = [row for row in rows if not row.why]
    held = allotments([row.pk for row in changing]) if changing else {}
    return Preview(
        changing=changing,
        left_out=[row for row in rows if row.why],
        missing=len(set(ids)) - len(found),
        needs_reason=any(reasons),
        steps=[(old, words[chosen], count) for old, count in Counter(row.before for row in changing).most_common()],
        guaranteed=sum(one.total.guaranteed for one in held.values()),
        used=sum(one.total.used for one in held.values()),
    )


def _word(field: str, project: Project, words: dict[str, str]) -> str:
    if field == "area":
        return project.area.title if project.area else "–"
    return words.get(project.stage, "–")
