"""The columns of the table: what each needs, shows, sorts by, sums to and exports. One list for all of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kernel.looks import model_class
from portal.pages.cost import Cost
from portal.pages.table import cells, sums
from portal.pages.table.moment import Moment
from portal.pages.table.rows import NOTHING, Row
from projects.models import Kind, Stage, Tier
from projects.states import ProjectState

DEFAULT = (
    "tier",
    "stage",
    "lead",
    "models",
    "used",
    "gpus",
    "guaranteed",
    "limit",
    "days",
    "utilisation",
    "state",
    "milestone",
)
"""What is shown to whoever chose nothing."""


@dataclass(frozen=True, slots=True)
class Column:
    """``value`` is plain, for export and as sort key unless ``order`` says otherwise; None sorts last."""

    key: str
    label: str | Promise
    cell: Callable[[Row, Moment], str]
    value: Callable[[Row], Any]
    need: str = ""
    css: str = ""
    order: Callable[[Row], Any] | None = None
    total: Callable[[Sequence[Row], Moment], str] | None = None
    group: str = ""
    """The choice that brings this column; its own key unless it is one of a group."""

    def sort_key(self, row: Row) -> Any:
        return (self.order or self.value)(row)


def _choice(choices: Any, key: str) -> Callable[[Row], str | None]:
    labels = dict(choices.choices)
    return lambda row: str(labels[row.facts[key]]) if row.facts[key] else None


_stage, _kind = _choice(Stage, "stage"), _choice(Kind, "kind")


def _fact(key: str) -> Callable[[Row], Any]:
    return lambda row: row.facts[key]


LOW_USE_PCT = 10
"""Below this the GPUs held count as little used (MON3)."""


def _standing(row: Row) -> str:
    """The state; of an active project also what stands out, where the columns asked for the data."""
    state = str(row.facts["state"])
    if state != ProjectState.ACTIVE:
        return state
    if row.total.limit and row.total.used >= row.total.limit:
        return "at_limit"
    mean = _utilisation(row)
    return "low_use" if mean is not None and mean < LOW_USE_PCT else state


def _leads(row: Row) -> str | None:
    return ", ".join(lead.name for lead in row.leads) or None


def _utilisation(row: Row) -> float | None:
    return row.utilisation.mean_pct if row.utilisation else None


def _money(cost: Cost | None) -> str | float | None:
    """A number where there is one currency and nothing is unknown, else words."""
    if cost is None:
        return None
    if cost.is_whole and len(cost.amounts) == 1:
        return round(float(next(iter(cost.amounts.values()))), 2)
    return sums.in_words(cost)


def _changed(row: Row, at: Moment) -> str:
    return cells.moment(row.facts["updated_at"], at.now, at.zone, at.language)


def _bar(row: Row, at: Moment) -> str:
    return cells.bar(row.total, at.language)


def _money_order(cost: Cost | None) -> Any:
    return sum(cost.amounts.values()) if cost and cost.amounts else None


NAME = Column(
    "name",
    gettext_lazy("Project"),
    lambda row, at: cells.name(row.pk, row.facts["name"], at.language),
    _fact("name"),
    css="is-name is-cut",
    order=lambda row: row.facts["name"].casefold() or None,
    total=lambda rows, at: _("Sum of %(count)s") % {"count": len(rows)},
)

_REGISTRY = (
    Column(
        "tier",
        gettext_lazy("Tier"),
        lambda row, at: cells.tier(row.facts["tier_now"], at.language),
        _choice(Tier, "tier_now"),
        css="is-split",
        order=lambda row: row.facts["tier_rank"] if row.facts["tier_now"] else None,
    ),
    Column(
        "stage",
        gettext_lazy("Stage"),
        lambda row, at: cells.cut(_stage(row) or ""),
        _stage,
        css="is-2 is-cut",
        order=lambda row: row.facts["stage_rank"] if row.facts["stage"] else None,
    ),
    Column(
        "area",
        gettext_lazy("Area"),
        lambda row, at: cells.cut(row.facts["area__title"] or ""),
        _fact("area__title"),
        css="is-2 is-cut",
    ),
    Column("lead", gettext_lazy("Lead"), lambda row, at: cells.cut(_leads(row) or ""), _leads, css="is-2 is-cut"),
    Column(
        "kind",
        gettext_lazy("Kind"),
        lambda row, at: cells.text(_kind(row) or ""),
        _kind,
        css="is-2",
    ),
)

_GPUS = (
    Column(
        "used",
        gettext_lazy("Used"),
        lambda row, at: cells.amount(row.total.used),
        lambda row: row.total.used,
        need="quota",
        css="num is-key is-split",
        total=sums.of(lambda row: row.total.used),
    ),
    Column(
        "gpus",
        gettext_lazy("GPUs"),
        _bar,
        lambda row: row.total.used,
        need="quota",
    ),
    Column(
        "guaranteed",
        gettext_lazy("Guar."),
        lambda row, at: cells.amount(row.total.guaranteed),
        lambda row: row.total.guaranteed,
        need="quota",
        css="num",
        total=sums.of(lambda row: row.total.guaranteed),
    ),
    Column(
        "limit",
        gettext_lazy("Limit"),
        lambda row, at: cells.limit(row.total.limit),
        lambda row: row.total.limit,
        need="quota",
        css="num is-2",
        total=sums.of(lambda row: row.total.limit),
    ),
    Column(
        "days",
        gettext_lazy("GPU-h, 14 d"),
        lambda row, at: cells.days(row, at.language),
        lambda row: round(sum(row.days), 2),
        need="days",
        css="is-split",
        total=sums.hours(lambda row: sum(row.days)),
    ),
    Column(
        "hours",
        gettext_lazy("GPU-h, 30 d"),
        lambda row, at: cells.hours(row.hours),
        lambda row: round(row.hours, 2),
        need="hours",
        css="num",
        total=sums.hours(lambda row: row.hours),
    ),
    Column(
        "utilisation",
        gettext_lazy("Util."),
        lambda row, at: cells.utilisation(row.utilisation, at.language),
        _utilisation,
        need="utilisation",
        css="num",
        total=sums.utilisation,
    ),
    Column(
        "cost",
        gettext_lazy("Cost this month"),
        lambda row, at: cells.cost(row.cost),
        lambda row: _money(row.cost),
        need="cost",
        css="num",
        order=lambda row: _money_order(row.cost),
        total=sums.cost(lambda row: row.cost),
    ),
    Column(
        "simulated_cost",
        gettext_lazy("Simulated cost this month"),
        lambda row, at: cells.simulated_cost(row.simulated_cost),
        lambda row: _money(row.simulated_cost),
        need="cost",
        css="num",
        order=lambda row: _money_order(row.simulated_cost),
        total=sums.cost(lambda row: row.simulated_cost),
    ),
)

_LAST = (
    Column(
        "state",
        gettext_lazy("State"),
        lambda row, at: cells.state(_standing(row), at.language),
        _choice(ProjectState, "state"),
        css="is-split",
        total=sums.active,
    ),
    Column(
        "milestone",
        gettext_lazy("Milestone"),
        lambda row, at: cells.milestone(row.due_name, row.due_on, at.today, at.language),
        lambda row: row.due_on,
        css="num",
        total=sums.late,
    ),
    Column(
        "members",
        gettext_lazy("People"),
        lambda row, at: cells.amount(row.facts["members_count"]),
        _fact("members_count"),
        css="num",
        total=sums.of(lambda row: row.facts["members_count"]),
    ),
    Column(
        "breakthrough",
        gettext_lazy("Breakthrough"),
        lambda row, at: cells.whole(row.facts["breakthrough"]),
        _fact("breakthrough"),
        css="num",
    ),
    Column(
        "updated_at",
        gettext_lazy("Changed"),
        _changed,
        _fact("updated_at"),
        css="is-2",
    ),
)

GROUPS = {
    "models": (gettext_lazy("Guaranteed, by model"), "guaranteed"),
    "models_used": (gettext_lazy("Used, by model"), "used"),
    "models_limit": (gettext_lazy("Limit, by model"), "limit"),
}
"""A choice that brings one column for every GPU model that somebody holds or uses."""

ORDER = (
    *(column.key for column in _REGISTRY),
    *GROUPS,
    *(column.key for column in _GPUS),
    *(column.key for column in _LAST),
)
"""Every choice, in the order in which they stand on the screen."""
SINGLE = {column.key: column for column in (*_REGISTRY, *_GPUS, *_LAST)}


def choices() -> list[tuple[str, str]]:
    """The keys that may be chosen, with their words."""
    return [(key, str(GROUPS[key][0] if key in GROUPS else SINGLE[key].label)) for key in ORDER]


def columns(chosen: Sequence[str], gpu_models: Mapping[str, str]) -> list[Column]:
    """The columns shown, in the order chosen: the name always, groups spread over the models (by title)."""
    return [NAME, *_spread(chosen, gpu_models)]


def _spread(chosen: Sequence[str], gpu_models: Mapping[str, str]) -> Iterator[Column]:
    for key in chosen:
        if key in GROUPS:
            yield from (by_model(key, *pair, is_first=not index) for index, pair in enumerate(gpu_models.items()))
        else:
            yield SINGLE[key]


def by_model(group: str, gpu_model: str, label: str = "", *, is_first: bool = False) -> Column:
    """The column of one GPU model; its sort key is ``models:H100``."""
    attribute = GROUPS[group][1]

    def value(row: Row) -> Any:
        return getattr(row.models.get(gpu_model, NOTHING), attribute)

    draw = cells.limit if attribute == "limit" else cells.amount
    return Column(
        f"{group}:{gpu_model}",
        label or gpu_model,
        lambda row, at: draw(value(row)),
        value,
        need="quota",
        css=f"num {'is-split ' if is_first else ''}is-model {model_class(gpu_model)}",
        total=sums.of(value),
        group=group,
    )
