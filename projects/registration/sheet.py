"""The whole form: fields, rows of compute, milestones and people, and the answer to a question."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.formsets import BaseFormSet, formset_factory
from django.utils.translation import gettext as _

from accounts.models import Person
from kernel import clock
from kernel.calendar import local_day
from kernel.errors import Invalid
from kernel.form_drafts import Data
from kernel.forms import add_errors
from projects.content import missing_among
from projects.facts import CLASSIFYING, MAX_ROWS, ComputeAsked, Facts, MilestoneAsked, tidied
from projects.registration import typed
from projects.registration.fields import AnswerForm, ComputeRow, MilestoneRow, ProjectForm, TeamRow, model_choices
from projects.selectors import ProjectDetail, name_is_taken
from projects.services.members import MemberAsked, team_faults
from projects.states import ProjectState

NEEDED = ("name", "goal", "stage", "breakthrough")
"""Fields without which a draft cannot be submitted."""
_SETS = {"expected_compute": "compute", "milestones": "milestones", "team": "team"}
"""Which rows a service means by a name."""


if TYPE_CHECKING:
    _FormSet = BaseFormSet[forms.Form]
else:
    _FormSet = BaseFormSet


class Rows(_FormSet):
    """An empty row is no row, wherever it stands; which rows were there before, their ids say."""

    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        return {**super().get_form_kwargs(index), "empty_permitted": True}

    @property
    def stated(self) -> list[forms.Form]:
        """The rows that were filled in and not removed."""
        return [form for form in self.forms if form.has_changed() and not self.is_removed(form)]

    @property
    def whole(self) -> list[forms.Form]:
        """Those of them in which every value could be read."""
        return [form for form in self.stated if form.is_valid()]

    def is_removed(self, form: forms.Form) -> bool:
        return bool(form["DELETE"].data)


def _rows(form: type[forms.Form], extra: int) -> type[Rows]:
    # Removed rows are counted too; Django would make, judge and show a thousand more for a number that somebody sends.
    made = formset_factory(
        form,
        formset=Rows,
        extra=extra,
        can_delete=True,
        max_num=MAX_ROWS,
        absolute_max=2 * MAX_ROWS,
        validate_max=True,
    )
    return cast(type[Rows], made)


class ProjectForms:
    """Bound to what was sent; or filled from a project, or from a draft as it was typed."""

    def __init__(
        self, data: Mapping[str, Any] | None = None, detail: ProjectDetail | None = None, draft: Data | None = None
    ) -> None:
        self.detail = detail
        first = typed.of_project(detail) if detail else typed.nothing_yet()
        if draft is not None:
            first = typed.of_draft(draft)
        self.form = ProjectForm(data, initial=first["form"])
        self.answer = AnswerForm(data, initial=first["form"])
        self.compute = self._set(ComputeRow, "compute", first, data, models=model_choices())
        self.milestones = self._set(MilestoneRow, "milestones", first, data)
        self.team = self._set(TeamRow, "team", first, data)
        if detail is not None:
            self._fix(detail)

    def _set(
        self, row: type[forms.Form], name: str, first: typed.Initial, data: Mapping[str, Any] | None, **given: Any
    ) -> Rows:
        """Sent rows are compared with empty ones: a form that was restored does not say what was there before."""
        if data is not None:
            none = {f"{name}-TOTAL_FORMS": 0, f"{name}-INITIAL_FORMS": 0}
            sent = data if f"{name}-TOTAL_FORMS" in data else none
            return _rows(row, 0)(sent, prefix=name, form_kwargs=given)
        return _rows(row, 0 if first[name] else 1)(initial=first[name], prefix=name, form_kwargs=given)

    def _fix(self, detail: ProjectDetail) -> None:
        """Fields that this person may not change now are shown and not read."""
        may_edit, may_classify = "edit" in detail.can, "reclassify" in detail.can
        is_draft = detail.project.state == ProjectState.DRAFT
        stands = typed.of_project(detail)["form"]
        for name, field in self.form.fields.items():
            is_open = (may_edit and is_draft) or (may_classify if name in CLASSIFYING else may_edit)
            field.disabled = not is_open
            if field.disabled:
                self.form.initial[name] = stands[name]

    @property
    def sets(self) -> tuple[Rows, Rows, Rows]:
        return self.compute, self.milestones, self.team

    def judge(self, person: Person, *, to_submit: bool, has_question: bool = False) -> bool:
        """Put everything that cannot be taken on its field or row, in one round. Whether there was nothing.

        What is still missing counts only where a submission is asked for.
        """
        read = [self.form.is_valid(), *(rows.is_valid() for rows in self.sets), self.answer.is_valid()]
        faults = {**self._faults(), **team_faults(self.newcomers(), by=person)}
        if to_submit:
            faults = {**self.missing(), **faults}
            if has_question and not self.answer.cleaned_data["answer"].strip():
                faults["answer"] = [_("Answer the question before you submit again.")]
        if faults:
            self.add_errors(Invalid(faults))
        return all(read) and not faults

    def _faults(self) -> dict[str, list[str]]:
        """What the service would refuse of that which could be read."""
        facts, faults = self.facts(), {}
        try:
            tidied(facts, today=local_day(clock.now()))
        except Invalid as refusal:
            faults = dict(refusal.errors)
        name = " ".join(facts.get("name", "").split())
        if name and "name" not in faults and name_is_taken(name, but=self.detail.project.pk if self.detail else None):
            text = _("A project named “%(name)s” exists already. Choose another name.")
            faults["name"] = [text % {"name": name}]
        return faults

    def missing(self) -> dict[str, list[str]]:
        """What a submission still needs, as a sentence by field; a field that could not be read is not missing."""
        facts = self.facts()
        stated = {
            "name": bool(facts.get("name", "").strip()),
            "goal": bool(facts.get("goal", "").strip()),
            "stage": bool(facts.get("stage")),
            "breakthrough": facts.get("breakthrough") is not None,
            "expected_compute": bool(self.compute.stated),
            "milestones": bool(self.milestones.stated),
        }
        unread = self.form.errors
        return {field: [text] for field, text in missing_among(stated).items() if field not in unread}

    def facts(self, *, has_rows: bool = True) -> Facts:
        """What was stated and could be read; without the rows where only an admin's fields may change."""
        self.form.is_valid()
        facts: Any = dict(self.form.cleaned_data)
        if "datasets" in facts:
            facts["datasets"] = facts["datasets"].splitlines()
        if "area" in facts:
            facts["area"] = facts["area"] or None
        if has_rows:
            facts["expected_compute"] = [
                ComputeAsked(row["gpu_model"], row["min"], row["target"], row["max"])
                for row in (form.cleaned_data for form in self.compute.whole)
            ]
            facts["milestones"] = [
                MilestoneAsked(row["name"], row["due_on"], row["met_on"], row["id"])
                for row in (form.cleaned_data for form in self.milestones.whole)
            ]
        result: Facts = facts
        return result

    def newcomers(self) -> tuple[MemberAsked, ...]:
        """Who is to be on the team from the start."""
        return tuple(MemberAsked(form.cleaned_data["person"], form.cleaned_data["role"]) for form in self.team.whole)

    def add_errors(self, refusal: Invalid) -> None:
        """Put each sentence of the service on its field or row; a field that could not be read has its own."""
        rest: dict[str, list[str]] = {}
        whole = {part: getattr(self, name).whole for part, name in _SETS.items()}
        for key, texts in refusal.errors.items():
            part, _dot, place = key.partition(".")
            index, _dot, field = place.partition(".")
            rows = whole.get(part, [])
            if index.isdigit() and int(index) < len(rows):
                form = rows[int(index)]
                for text in texts:
                    form.add_error(field if field in form.fields else None, text)
            elif part in _SETS:
                getattr(self, _SETS[part]).non_form_errors().extend(texts)
            elif key == "answer":
                self.answer.add_error("answer", texts)
            elif key not in self.form.errors:
                rest[key] = texts
        if rest:
            add_errors(self.form, Invalid(rest))

    def add_error(self, text: str) -> None:
        self.form.add_error(None, text)

    def mark_needed(self) -> None:
        """For showing, after parsing: what a submission needs does not say "optional"."""
        for name in NEEDED:
            self.form.fields[name].required = True
        self.answer.fields["answer"].required = True

    def fault_count(self) -> int:
        """How many fields and rows are to be corrected; zero before anything was sent."""
        if not self.form.is_bound:
            return 0
        in_rows = [form for rows in self.sets for form in rows.forms if form.errors and not rows.is_removed(form)]
        of_sets = [rows for rows in self.sets if rows.non_form_errors()]
        return len(self.form.errors) + len(self.answer.errors) + len(in_rows) + len(of_sets)

    def says_more(self) -> list[str]:
        """Sentences that belong to no single field."""
        return [str(text) for text in self.form.errors.get(NON_FIELD_ERRORS, [])] if self.form.is_bound else []
