"""What the API of the registry takes and gives. Parsing only: the services judge."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.fields import empty

from projects.facts import MAX_GPUS, MAX_NAME, MAX_TEXT, ComputeAsked, Facts, Keep, MilestoneAsked
from projects.models import DataClass, Kind, ProjectRole, Stage, Tier
from projects.services.measurements import MAX_JOB, MAX_UNIT, Stated
from projects.states import MeasurementState, ProjectState

MAX_INTEGER = 2**31 - 1


class StrictSerializer(serializers.Serializer[Any]):
    """A field that does not exist is a fault: what was sent is either done or refused, never dropped."""

    def run_validation(self, data: Any = empty) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            allowed = ", ".join(name for name, field in self.fields.items() if not field.read_only)
            text = _("There is no such field; there are: %(allowed)s.") % {"allowed": allowed}
            raise serializers.ValidationError({str(name)[:60]: [text] for name in unknown})
        return super().run_validation(data)


class ComputeInput(StrictSerializer):
    """Expected compute on one GPU model, in whole GPUs."""

    gpu_model = serializers.CharField(max_length=100, help_text="Name or id of a GPU model.")
    min = serializers.IntegerField(min_value=0, max_value=MAX_GPUS, default=0)
    target = serializers.IntegerField(min_value=0, max_value=MAX_GPUS)
    max = serializers.IntegerField(min_value=1, max_value=MAX_GPUS)


class MilestoneInput(StrictSerializer):
    """A row with an id, or of a name that exists, changes that milestone; another is added."""

    id = serializers.IntegerField(required=False, min_value=1, max_value=2**62)
    name = serializers.CharField(max_length=MAX_NAME)
    due_on = serializers.DateField()
    met_on = serializers.DateField(required=False, allow_null=True, help_text="Absent: stays as it is.")


class ProjectInput(StrictSerializer):
    """A draft may lack anything. Lists are given whole: what is not in them is removed."""

    name = serializers.CharField(required=False, allow_blank=True, max_length=MAX_NAME)
    goal = serializers.CharField(required=False, allow_blank=True, max_length=MAX_TEXT)
    kind = serializers.ChoiceField(Kind.choices, required=False)
    stage = serializers.ChoiceField(Stage.choices, required=False, allow_blank=True)
    area = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=MAX_NAME)
    data_class = serializers.ChoiceField(DataClass.choices, required=False)
    breakthrough = serializers.IntegerField(
        required=False, allow_null=True, min_value=-MAX_INTEGER, max_value=MAX_INTEGER, help_text="0 to 10."
    )
    datasets = serializers.ListField(child=serializers.CharField(max_length=MAX_NAME), required=False)
    expected_compute = ComputeInput(many=True, required=False)
    milestones = MilestoneInput(many=True, required=False)


class ProjectPatch(ProjectInput):
    """As for a new draft; ``seen`` is the ``content`` read before: another content by now is a 409."""

    seen = serializers.CharField(required=False, max_length=300)


class SubmitInput(StrictSerializer):
    """``answer`` is to the open question, and needed while there is one."""

    answer = serializers.CharField(required=False, allow_blank=True, max_length=MAX_TEXT)


class StepInput(StrictSerializer):
    """``comment`` is another name of ``reason``."""

    reason = serializers.CharField(required=False, allow_blank=True, max_length=MAX_TEXT)
    comment = serializers.CharField(required=False, allow_blank=True, max_length=MAX_TEXT)


class DecisionInput(StepInput):
    """``seen`` is the ``content`` that the approver looked at: another content by now is a 409."""

    seen = serializers.CharField(required=False, max_length=300)


class MemberInput(StrictSerializer):
    person = serializers.CharField(max_length=150, help_text="User name or id.")
    role = serializers.ChoiceField(ProjectRole.choices, default=ProjectRole.RESEARCHER)


class RoleInput(StrictSerializer):
    role = serializers.ChoiceField(ProjectRole.choices)


class TierInput(StepInput):
    tier = serializers.ChoiceField(Tier.choices)


class MeasurementInput(StrictSerializer):
    """A throughput over 0 with its unit; or ``cannot_use``, and no throughput. Evidence is needed for either."""

    gpu_model = serializers.CharField(max_length=100, help_text="Name or id of a GPU model.")
    throughput = serializers.DecimalField(
        max_digits=18, decimal_places=6, required=False, allow_null=True, help_text="Of one GPU, in ``unit``."
    )
    unit = serializers.CharField(
        required=False, allow_blank=True, max_length=MAX_UNIT, help_text="The same for all models of a project."
    )
    cannot_use = serializers.BooleanField(default=False)
    evidence = serializers.CharField(max_length=MAX_TEXT, help_text="A link or a text.")
    job = serializers.CharField(required=False, allow_blank=True, max_length=MAX_JOB, help_text="Id of a job, as text.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        has_number = attrs.get("throughput") is not None
        if has_number == attrs["cannot_use"]:
            text = _("Give a number over 0, or say cannot_use; not both.")
            raise serializers.ValidationError({"throughput": [text]})
        return attrs


class AreaInput(StrictSerializer):
    name = serializers.CharField(max_length=100, help_text="Key: lower-case letters, digits, - and _.")
    title = serializers.CharField(required=False, allow_blank=True, max_length=MAX_TEXT)
    parent = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=100)  # type: ignore[assignment]


class AreaChange(StrictSerializer):
    title = serializers.CharField(required=False, max_length=MAX_TEXT)
    parent = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=100)  # type: ignore[assignment]


class PersonOutput(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    username = serializers.CharField()
    display_name = serializers.CharField()


class ComputeOutput(serializers.Serializer[Any]):
    gpu_model = serializers.CharField()
    min = serializers.IntegerField()
    target = serializers.IntegerField()
    max = serializers.IntegerField()


class MilestoneOutput(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    due_on = serializers.DateField()
    met_on = serializers.DateField(allow_null=True)


class ProjectRowOutput(serializers.Serializer[Any]):
    """A project as it stands in the list."""

    id = serializers.IntegerField()
    name = serializers.CharField(allow_blank=True)
    goal = serializers.CharField(allow_blank=True)
    kind = serializers.ChoiceField(Kind.choices)
    stage = serializers.ChoiceField(Stage.choices, allow_blank=True)
    state = serializers.ChoiceField(ProjectState.choices)
    area = serializers.CharField(allow_null=True)
    data_class = serializers.ChoiceField(DataClass.choices)
    tier = serializers.ChoiceField(Tier.choices, allow_null=True)
    breakthrough = serializers.IntegerField(allow_null=True)
    datasets = serializers.ListField(child=serializers.CharField())
    expected_compute = ComputeOutput(many=True)
    milestones = MilestoneOutput(many=True)
    lead = PersonOutput(allow_null=True, help_text="The lead of longest standing.")
    leads = PersonOutput(many=True)
    members_count = serializers.IntegerField()
    created_by = PersonOutput()
    submitted_by = PersonOutput(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class QuestionOutput(serializers.Serializer[Any]):
    """A question of an approver with the lead's answer; open while ``answered_at`` is null."""

    question = serializers.CharField()
    asked_by = PersonOutput()
    asked_at = serializers.DateTimeField()
    answer = serializers.CharField(allow_blank=True)
    answered_by = PersonOutput(allow_null=True)
    answered_at = serializers.DateTimeField(allow_null=True)


class ProjectOutput(ProjectRowOutput):
    questions = QuestionOutput(many=True, help_text="Oldest first; the last may be open.")
    can = serializers.ListField(child=serializers.CharField(), help_text="What the caller could do now.")
    content = serializers.CharField(help_text="Hash of what an approver sees; a decision names it as seen.")


class MemberOutput(serializers.Serializer[Any]):
    person = PersonOutput()
    role = serializers.ChoiceField(ProjectRole.choices)
    is_active = serializers.BooleanField()
    joined_at = serializers.DateTimeField()
    added_by = PersonOutput(allow_null=True)


class HistoryOutput(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    kind = serializers.CharField(help_text="created, change, state or tier.")
    what = serializers.CharField(help_text="Event of a step of the state, else the field.")
    who = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class TierOutput(serializers.Serializer[Any]):
    tier = serializers.ChoiceField(Tier.choices)
    effective_from = serializers.DateTimeField()
    reason = serializers.CharField()


class MeasurementOutput(serializers.Serializer[Any]):
    """``throughput`` null: the project cannot use the model."""

    id = serializers.IntegerField()
    gpu_model = serializers.CharField()
    throughput = serializers.FloatField(allow_null=True)
    unit = serializers.CharField(allow_blank=True)
    evidence = serializers.CharField()
    job = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(MeasurementState.choices)
    stated_by = PersonOutput()
    stated_at = serializers.DateTimeField()
    decided_by = PersonOutput(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    decision_reason = serializers.CharField(allow_blank=True)


class SuitabilityOutput(serializers.Serializer[Any]):
    """What counts for one GPU model; ``reference`` is the model against which a measured one is reckoned."""

    gpu_model = serializers.CharField()
    suitability = serializers.FloatField(help_text="Relative to an H100; 0: cannot use it, or nobody has rated it.")
    source = serializers.ChoiceField(["catalogue", "measured", "excluded"])  # type: ignore[assignment]
    default = serializers.FloatField()
    reference = serializers.CharField(allow_null=True)
    confirmed = MeasurementOutput(allow_null=True)
    proposed = MeasurementOutput(allow_null=True)


class AreaOutput(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    title = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]


def stated(data: dict[str, Any]) -> Facts:
    """Validated input as the services take it."""
    facts: Any = {key: value for key, value in data.items() if key != "seen"}
    if "expected_compute" in facts:
        facts["expected_compute"] = [ComputeAsked(**row) for row in facts["expected_compute"]]
    if "milestones" in facts:
        facts["milestones"] = [
            MilestoneAsked(row["name"], row["due_on"], row.get("met_on", Keep.KEEP), row.get("id"))
            for row in facts["milestones"]
        ]
    result: Facts = facts
    return result


def reason_in(data: dict[str, Any]) -> str:
    return str(data.get("reason") or data.get("comment") or "")


def measured(data: dict[str, Any]) -> Stated:
    """Validated input as the service takes it."""
    said = {name: data.get(name, "") for name in ("gpu_model", "unit", "evidence", "job")}
    return Stated(throughput=data.get("throughput"), **said)
