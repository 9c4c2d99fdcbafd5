"""The filters over the table: those in use and the usual ones as chips, the rest behind one more."""

from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _

from portal.pages.table.heads import address_of
from portal.pages.table.table import Table
from projects.filters import NO_TIER
from projects.models import Kind, Stage, Tier
from projects.states import ProjectState

Choices = list[tuple[str, str]]
USUAL = frozenset({"state", "tier"})
ONE_OF = frozenset({"lead", "kind", "late"})


@dataclass(frozen=True, slots=True)
class Chip:
    """``clear`` is the address without this filter; ``words`` what is chosen."""

    key: str
    label: str
    choices: Choices
    chosen: list[str]
    clear: str

    @property
    def words(self) -> str:
        labels = dict(self.choices)
        return ", ".join(labels.get(value, value) for value in self.chosen) or _("any")

    @property
    def is_one_of(self) -> bool:
        return self.key in ONE_OF

    @property
    def stands_out(self) -> bool:
        return bool(self.chosen) or self.key in USUAL


def chips(query: QueryDict, table: Table) -> list[Chip]:
    """The filters; areas and leads are those of the projects that the person sees."""
    areas = {row.facts["area__name"]: row.facts["area__title"] for row in table.everything if row.facts["area__name"]}
    leads = {lead.username: lead.name for row in table.everything for lead in row.leads}
    parts: tuple[tuple[str, str, Choices], ...] = (
        ("state", _("State"), _choices(ProjectState)),
        ("tier", _("Tier"), [*_choices(Tier), (NO_TIER, _("No tier"))]),
        ("stage", _("Stage"), _choices(Stage)),
        ("area", _("Area"), sorted(areas.items(), key=lambda pair: pair[1].casefold())),
        ("lead", _("Lead"), sorted(leads.items(), key=lambda pair: pair[1].casefold())),
        ("kind", _("Kind"), _choices(Kind)),
        ("model", _("Quota on"), list(table.gpu_models.items())),
        ("late", _("Milestone"), [("true", _("late")), ("false", _("not late"))]),
    )
    found = [
        Chip(key, label, choices, _chosen(query, key), address_of(query, {key, "page", "ids"}))
        for key, label, choices in parts
    ]
    return [chip for chip in found if chip.choices or chip.chosen]


def _choices(kind: type[ProjectState | Tier | Stage | Kind]) -> Choices:
    return [(str(key), str(label)) for key, label in kind.choices]


def _chosen(query: QueryDict, key: str) -> list[str]:
    return [value for value in query.getlist(key) if value]
