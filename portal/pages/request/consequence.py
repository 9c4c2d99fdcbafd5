"""What a request would do, reckoned from what stands in the form: beside it while one types, or as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from accounts.models import Person, Role
from approvals.policies import rules_for
from approvals.rules import StepRule
from approvals.selectors import AnswerTime, answer_time, names
from approvals.services import policy_in_force
from inventory.models import GpuModel
from kernel.formats import number, short_day
from kernel.looks import model_class
from kernel.svg import Usage, usage_bar
from portal.pages.approval.evidence.lending import Lending
from portal.pages.approval.evidence.likeness import Traits
from portal.pages.request.before import Before, before
from portal.pages.request.borrowing import borrowing
from portal.pages.request.chart import day_chart
from portal.pages.request.fit import Fit, Run, fit_of
from portal.pages.request.money import Spending, spending
from portal.pages.request.sheet import Sheet
from portal.pages.request.takers import Tight, tight_days
from portal.pages.request.totals import Held
from portal.pages.request.way import Way, way_of
from projects.selectors import tier_at
from quotas import usage
from quotas.models import Resource
from quotas.raises import Totals
from quotas.requests.asking import Asked
from quotas.requests.selectors import KIND
from quotas.requests.weighing import measures_of
from quotas.selectors import model_facts


@dataclass(frozen=True, slots=True)
class Offer:
    """Something smaller that would fit: what it is called, and what it puts into the form."""

    label: str
    fill: dict[str, str]


@dataclass(frozen=True, slots=True)
class Bars:
    """The project's bar now and then, on one scale."""

    now: SafeString
    then: SafeString
    now_words: str
    then_words: str


@dataclass(frozen=True, slots=True)
class Consequence:
    """``more``: GPUs guaranteed on top of what is held when it begins; negative where it gives back."""

    model: GpuModel
    held: Held
    totals: Totals
    asked: Asked
    fit: Fit
    chart: SafeString
    tight: Sequence[Tight]
    offers: Sequence[Offer]
    bars: Bars
    lending: Lending
    spending: Spending
    way: Way | None
    steps: Sequence[str]
    before: Before
    answer_time: AnswerTime | None

    @property
    def more(self) -> int:
        return self.totals.guaranteed - self.held.guaranteed

    @property
    def given_back(self) -> int:
        return max(0, -self.more)

    @property
    def is_less(self) -> bool:
        return self.more < 0 and self.fit.most == 0

    @property
    def losers(self) -> int:
        """How many projects would run less on idle GPUs."""
        return len(self.lending.losers)

    @property
    def lost_gpus(self) -> float:
        return -sum(loss.difference for loss in self.lending.losers)


def consequence_of(person: Person, sheet: Sheet) -> Consequence | None:
    """None while model, amount or days are missing, or the time is over."""
    model, totals, asked = sheet.model, sheet.totals, sheet.asked
    window = asked.window(sheet.now) if asked else None
    if model is None or totals is None or asked is None or window is None:
        return None
    added = sheet.holdings.on_top(asked, window)
    fit = fit_of(model_facts([model.pk], window)[model.pk], added, window)
    tier = tier_at([sheet.project.pk], sheet.now).get(sheet.project.pk)
    measures = measures_of(asked, sheet.holdings, model, tier, sheet.now)
    way = way_of(rules_for(person, policy_in_force(KIND)), measures)
    traits = Traits(model.name, str(measures.tier or ""), sheet.project.stage, measures.gpus or 0)
    return Consequence(
        model=model,
        held=sheet.held,
        totals=totals,
        asked=asked,
        fit=fit,
        chart=day_chart(fit, label=_fit_words(fit, model)),
        tight=tight_days(person, model, sheet.project.pk, fit),
        offers=_offers(sheet, fit),
        bars=_bars(sheet, model, totals),
        lending=borrowing(model, sheet.project.pk, totals.guaranteed, sheet.now),
        spending=spending(model, added, window, sheet.now),
        way=way,
        steps=_steps(way),
        before=before(traits, sheet.now),
        answer_time=answer_time(sheet.now, kind=KIND),
    )


def _fit_words(fit: Fit, model: GpuModel) -> str:
    text = _("%(fitting)s of %(count)s days have %(asked)s %(model)s free")
    words = {"fitting": number(fit.fitting), "count": number(fit.count)}
    return text % {**words, "asked": number(fit.most), "model": model.title}


def _offers(sheet: Sheet, fit: Fit) -> list[Offer]:
    if fit.fits:
        return []
    return [offer for offer in (_smaller(sheet, fit), _shorter(sheet, fit)) if offer is not None]


def _smaller(sheet: Sheet, fit: Fit) -> Offer | None:
    """The most that fits on every day."""
    typed = sheet.form.value_of("guaranteed_more") or 0
    gpus = typed - (fit.most - fit.fits_throughout)
    if fit.fits_throughout <= 0 or gpus <= 0:
        return None
    return Offer(_("Ask for %(count)s") % {"count": number(gpus)}, {"guaranteed_more": str(gpus)})


def _shorter(sheet: Sheet, fit: Fit) -> Offer | None:
    """The longest stretch that fits, where that is at least half of the days."""
    longest = fit.longest
    if fit.is_open or longest is None:
        return None
    first, last = longest
    if 2 * ((last - first).days + 1) < fit.count:
        return None
    fill = {}
    if first != fit.days[0].day:
        fill["from_on"] = first.isoformat()
    if last != fit.days[-1].day:
        fill["to_on"] = last.isoformat()
    return Offer(_shorter_words(fit, first, last), fill)


def _shorter_words(fit: Fit, first: date, last: date) -> str:
    """What is left out where it lies at one end, else what stays."""
    [run, *more] = fit.tight
    if not more and (run.first == fit.days[0].day or run.last == fit.days[-1].day):
        return _("Leave out %(days)s") % {"days": days_words(run)}
    return _("Only %(first)s–%(last)s") % {"first": short_day(first), "last": short_day(last)}


def days_words(run: Run) -> str:
    """6 Jul, or 6 Jul–8 Jul."""
    if run.first == run.last:
        return short_day(run.first)
    return f"{short_day(run.first)}–{short_day(run.last)}"


def _bars(sheet: Sheet, model: GpuModel, totals: Totals) -> Bars:
    used = (usage.used_at(sheet.now, [sheet.project.pk]) or {}).get((sheet.project.pk, Resource.GPU, model.pk), 0.0)
    held = sheet.held
    ends = [amount for amount in (held.limit, totals.limit) if amount is not None]
    scale = max([used, held.guaranteed, totals.guaranteed, *ends, 1])
    css = model_class(model.name)
    pairs = ((held.guaranteed, held.limit), (totals.guaranteed, totals.limit))
    drawn = [
        usage_bar(
            Usage(used, guaranteed, limit, scale),
            label=f"{number(used)} / {_pair(guaranteed, limit)}",
            width=None,
            css_class=css,
        )
        for guaranteed, limit in pairs
    ]
    return Bars(drawn[0], drawn[1], *(_pair(*pair) for pair in pairs))


def _pair(guaranteed: int, limit: int | None) -> str:
    return f"{number(guaranteed)} / {_('no limit') if limit is None else number(limit)}"


def _steps(way: Way | None) -> list[str]:
    if way is None:
        return []
    people = names([pk for step in way.rule.steps for pk in step.people])
    return [_who(step, people) for step in way.rule.steps]


def _who(step: StepRule, people: Any) -> str:
    roles = [str(Role(role).label) for role in step.roles]
    return _(" or ").join([*roles, *(str(people[pk]) for pk in step.people if pk in people)])
