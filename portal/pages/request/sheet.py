"""The form against a project: what is typed as new totals, what the domain says of it, and the rows of models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from inventory.models import GpuModel
from kernel.calendar import local_day
from kernel.errors import Invalid
from kernel.formats import number
from portal.pages.request.fields import FIELD_OF, RequestForm
from portal.pages.request.totals import Held, ends_at, first_day, held_of, last_day, starts_at
from projects.models import Project
from quotas.models import QuotaRequest
from quotas.raises import Totals
from quotas.requests.asking import Asked, Holdings, holdings
from quotas.requests.checks import missing_faults, purpose_faults, shape_faults
from quotas.services.requests import FIELDS, RequestFacts

AMOUNTS = ("guaranteed_more", "limit_more", "least_more")


@dataclass(frozen=True)
class Sheet:
    """A bound form and what it says. ``models``: every GPU model by id."""

    form: RequestForm
    project: Project
    models: Mapping[int, GpuModel]
    now: datetime
    question: object = field(default=None)
    """The question that has to be answered with it."""

    @cached_property
    def model(self) -> GpuModel | None:
        self.form.is_valid()
        return self.models.get(self.form.value_of("gpu_model") or 0)

    @cached_property
    def holdings(self) -> Holdings:
        """Of the chosen model. One statement."""
        key = (self.project.pk, self.model.pk if self.model else 0)
        return holdings([key], self.now)[key] if self.model else Holdings()

    @cached_property
    def held(self) -> Held:
        return held_of(self.holdings, self._window_only(), self.now)

    @cached_property
    def totals(self) -> Totals | None:
        """New totals; None while no amount is typed."""
        typed = {name: self.form.value_of(name) for name in AMOUNTS}
        has_limit = typed["limit_more"] is not None or self.form.value_of("no_limit")
        if typed["guaranteed_more"] is None and not has_limit:
            return None
        guaranteed = self.held.total(typed["guaranteed_more"] or 0)
        limit = None if self.form.value_of("no_limit") else self.held.limit_total(typed["limit_more"], guaranteed)
        return Totals(guaranteed, limit)

    @cached_property
    def asked(self) -> Asked | None:
        """None while no amount is typed, or where the days cannot be."""
        if self.totals is None or {"from_on", "to_on"} & set(self.form.errors):
            return None
        only = self._window_only()
        if self.form.is_for_a_time and only.ends_at is None:
            return None
        return Asked(self.totals, only.starts_at, only.ends_at)

    def facts(self) -> RequestFacts:
        """Everything that could be read, as the domain takes it."""
        only, least = self._window_only(), self.form.value_of("least_more")
        totals = self.totals
        return {
            "gpu_model_id": self.model.pk if self.model else None,
            "guaranteed": totals.guaranteed if totals else None,
            "limit": totals.limit if totals else None,
            "least": None if least is None else self.held.total(least),
            "starts_at": only.starts_at,
            "ends_at": only.ends_at,
            "reason": self.form.value_of("reason") or "",
        }

    def judge(self, *, to_submit: bool, seen_held: str = "") -> bool:
        """Put everything that cannot be taken on its field, in one round. Whether there was nothing.

        ``seen_held``: model and amounts that the page showed to the person when it was sent.
        """
        is_read = self.form.is_valid()
        faults: dict[str, str] = self._own_faults(seen_held)
        row = QuotaRequest(project=self.project, gpu_model=self.model)
        facts = self.facts()
        for name in FIELDS:
            setattr(row, name, facts[name])  # type: ignore[literal-required]  # FIELDS names its keys
        stated = {name.removesuffix("_id") for name in FIELDS}
        domain = shape_faults(row, stated, self.now)
        if to_submit:
            domain = missing_faults(row) | domain | self._length_faults()
            if not domain and not faults and is_read:
                domain = purpose_faults(row, self.holdings, self.now)
            if self.question is not None and not self.form.value_of("answer"):
                domain["answer"] = _("Answer the question before you submit again.")
        self.add({FIELD_OF.get(name, name): text for name, text in domain.items()} | faults)
        return not self.form.errors

    def add(self, faults: Mapping[str, str]) -> None:
        """Sentences by field; a field that could not be read has its own already."""
        for name, text in faults.items():
            if name in self.form.fields and name not in self.form.errors:
                self.form.add_error(name, text)
            elif name not in self.form.fields:
                self.form.add_error(None, text)

    def refuse(self, refusal: Invalid) -> None:
        """What a service found under lock."""
        self.add({FIELD_OF.get(name, name): " ".join(map(str, texts)) for name, texts in refusal.errors.items()})

    def _own_faults(self, seen_held: str) -> dict[str, str]:
        faults = {}
        if self.held.limit is None and self.form.value_of("limit_more") is not None:
            faults["limit_more"] = _("The project has no limit now; leave this empty.")
        known, _colon, amounts = seen_held.partition(":")
        if self.model is not None and known == str(self.model.pk) and amounts != self.held.mark:
            has = Held(*(int(part) if part else None for part in amounts.split(":"))) if _is_mark(amounts) else None  # type: ignore[arg-type]
            if has is not None:
                text = _("The project has %(now)s by now, not %(before)s: look at what it becomes, and send it again.")
                faults["guaranteed_more"] = text % {"now": _amounts(self.held), "before": _amounts(has)}
        return faults

    def _length_faults(self) -> dict[str, str]:
        if self.form.is_for_a_time and self.form.value_of("to_on") is None and "to_on" not in self.form.errors:
            return {"ends_at": _("Say the last day, or choose “Until the next review decides”.")}
        return {}

    def _window_only(self) -> Asked:
        """The time asked for, without amounts."""
        today = local_day(self.now)
        end = ends_at(self.form.value_of("to_on")) if self.form.is_for_a_time else None
        return Asked(Totals(0, None), starts_at(self.form.value_of("from_on"), today), end)


def typed_of(row: QuotaRequest, held: Held, now: datetime) -> dict[str, Any]:
    """What the form shows of a request that is kept. A start that is left open is as soon as it is granted."""
    is_open = row.guaranteed is not None and row.ends_at is None
    return {
        "gpu_model": row.gpu_model_id,
        "guaranteed_more": held.more(row.guaranteed),
        "limit_more": held.limit_more(row.limit, row.guaranteed),
        "no_limit": row.guaranteed is not None and row.limit is None and held.limit is not None,
        "least_more": held.more(row.least),
        "length": "review" if is_open else "time",
        "from_on": first_day(row.starts_at) or local_day(now),
        "to_on": last_day(row.ends_at),
        "reason": row.reason,
    }


def _is_mark(amounts: str) -> bool:
    first, colon, second = amounts.partition(":")
    return bool(colon) and all(part.isascii() and part.isdigit() and len(part) < 12 for part in (first, second or "0"))


def _amounts(held: Held) -> str:
    guaranteed = number(held.guaranteed)
    if held.limit is None:
        return _("%(guaranteed)s, no limit") % {"guaranteed": guaranteed}
    return _("%(guaranteed)s, limit %(limit)s") % {"guaranteed": guaranteed, "limit": number(held.limit)}
