"""What the jobs API takes in and gives out."""

from pathlib import PurePosixPath
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from scheduling.api.fields import Dataset, Flag, Gpus, ModelName, Text, TextList, Variables, WholeNumber
from scheduling.engine import MILLI
from scheduling.spec import SIGNALS, JobSpec
from scheduling.states import AttemptState, Cause, JobState

_RENAMED = {
    "gpus": "milli_gpus",
    "preemptible": "is_preemptible",
    "exclusive": "is_exclusive",
    "share_device": "shares_device",
}


class JobFields(serializers.Serializer[Any]):
    """The fields of a job that a person chooses. All may be left out when a job is cloned."""

    name = Text(required=False, help_text="Default: the command's first word.")
    command = TextList(help_text="The program and its arguments; no shell is between.")
    gpu_model = ModelName(required=False, allow_null=True, help_text="Name or id; or several in gpu_models.")
    gpu_models = serializers.ListField(
        child=ModelName(), required=False, help_text="Allowed models; none: any with a quota."
    )
    gpus = Gpus(required=False, help_text="Total over all nodes; less than one is a part of a GPU. Default: 1.")
    nodes_exact = WholeNumber(required=False, allow_null=True)
    preemptible = Flag(required=False)
    priority = WholeNumber(required=False, help_text="Among the jobs of its project; the larger comes first.")
    max_runtime_s = WholeNumber(required=False, allow_null=True)
    grace_s = WholeNumber(required=False, allow_null=True, help_text="Null: the pool's.")
    max_retries = WholeNumber(required=False)
    cpus = WholeNumber(required=False, help_text="Per node; 0: no claim.")
    memory_bytes = WholeNumber(required=False, help_text="Per node; 0: no claim.")
    gpu_memory_bytes = WholeNumber(required=False, help_text="At least so much on each GPU; 0: any.")
    interconnect = Text(required=False, allow_blank=True, help_text="As nodes report it; empty: any.")
    exclusive = Flag(required=False, help_text="Nothing else runs on its nodes.")
    share_device = Flag(
        required=False, help_text="Jobs of other projects that say so, too, may use the rest of its GPU."
    )
    environment = WholeNumber(required=False, allow_null=True)
    env = Variables(required=False)
    datasets = serializers.ListField(child=Dataset(), required=False)
    checkpoint_dir = Text(required=False, allow_blank=True)
    checkpoint_interval_s = WholeNumber(required=False, allow_null=True)
    signal = Text(required=False, help_text=", ".join(SIGNALS))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("gpu_model") is not None and attrs.get("gpu_models"):
            raise serializers.ValidationError({"gpu_model": _("Either gpu_model or gpu_models is allowed, not both")})
        return attrs


class JobInput(JobFields):
    project = WholeNumber()


class ReasonInput(serializers.Serializer[Any]):
    reason = Text(required=False, allow_blank=True, max_length=1000)


class SwitchInput(ReasonInput):
    project = WholeNumber()
    preemptible = Flag()


class SwitchOutput(serializers.Serializer[Any]):
    jobs = serializers.ListField(child=serializers.IntegerField(), help_text="Ids of the jobs that were switched.")


class CheckItemOutput(serializers.Serializer[Any]):
    code = serializers.CharField()
    level = serializers.ChoiceField(["pass", "warning", "block"])
    text = serializers.CharField()


class LaunchCheckOutput(serializers.Serializer[Any]):
    can_submit = serializers.BooleanField()
    items = CheckItemOutput(many=True)


class HeldDeviceOutput(serializers.Serializer[Any]):
    node = serializers.CharField()
    uuid = serializers.CharField()
    gpus = Gpus()


class InterruptionOutput(serializers.Serializer[Any]):
    """What giving way, or the loss of a node, cost."""

    by = serializers.IntegerField(allow_null=True, help_text="The job it gave way to.")
    at = serializers.DateTimeField()
    checkpoint_at = serializers.DateTimeField(allow_null=True)
    lost_gpu_seconds = serializers.FloatField(allow_null=True, help_text="Null until its attempt has ended.")


class AttemptOutput(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    state = serializers.ChoiceField(AttemptState.choices)
    node = serializers.CharField(allow_null=True, help_text="Its nodes, with commas.")
    placement = serializers.DictField(child=serializers.FloatField(), help_text="GPUs by node.")
    launcher = serializers.CharField()
    assigned_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    exit_code = serializers.IntegerField(allow_null=True)
    cause = serializers.ChoiceField(Cause.choices, allow_null=True)
    message = serializers.CharField()
    devices = HeldDeviceOutput(many=True)
    gpu_model = serializers.CharField()
    is_simulated = serializers.BooleanField()
    newest_checkpoint_at = serializers.DateTimeField(allow_null=True)
    interruption = InterruptionOutput(allow_null=True)


class JobRowOutput(serializers.Serializer[Any]):
    """A job in a list: everything but its attempts and its check."""

    id = serializers.IntegerField()
    project = serializers.IntegerField()
    project_name = serializers.CharField()
    owner = serializers.CharField()
    name = serializers.CharField()
    state = serializers.ChoiceField(JobState.choices)
    reason = serializers.CharField(help_text="Why it waits or ended so; empty while it runs.")
    reason_code = serializers.CharField()
    needs = serializers.DictField(help_text="Of a job that waits: what lacks, by reason; else empty.")
    expected_at = serializers.DateTimeField(allow_null=True, help_text="When it should start, where that can be said.")
    command = serializers.ListField(child=serializers.CharField())
    gpu_models = serializers.ListField(child=serializers.CharField())
    gpus = Gpus()
    nodes_exact = serializers.IntegerField(allow_null=True)
    preemptible = serializers.BooleanField()
    priority = serializers.IntegerField()
    max_runtime_s = serializers.IntegerField(allow_null=True)
    grace_s = serializers.IntegerField(allow_null=True)
    max_retries = serializers.IntegerField()
    cpus = serializers.IntegerField()
    memory_bytes = serializers.IntegerField()
    gpu_memory_bytes = serializers.IntegerField()
    interconnect = serializers.CharField()
    exclusive = serializers.BooleanField()
    share_device = serializers.BooleanField()
    environment = serializers.IntegerField(allow_null=True)
    env = serializers.DictField(child=serializers.CharField())
    datasets = serializers.ListField(child=serializers.DictField())
    checkpoint_dir = serializers.CharField()
    checkpoint_interval_s = serializers.IntegerField(allow_null=True)
    signal = serializers.CharField()
    submitted_at = serializers.DateTimeField()
    queued_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True, help_text="Of the newest attempt.")
    ended_at = serializers.DateTimeField(allow_null=True)


class JobOutput(JobRowOutput):
    can = serializers.ListField(child=serializers.CharField(), help_text="Acts that its state allows.")
    attempts = AttemptOutput(many=True)
    launch_check = CheckItemOutput(many=True)
    log_bytes = serializers.IntegerField()


class EventOutput(serializers.Serializer[Any]):
    """One step of the job's state, or of one of its attempts."""

    at = serializers.DateTimeField()
    subject = serializers.CharField(help_text="“job”, or “attempt” and its number.")
    event = serializers.CharField()
    from_state = serializers.CharField()
    to_state = serializers.CharField()
    actor = serializers.CharField()
    reason = serializers.CharField()


def spec_from(values: dict[str, Any]) -> JobSpec:
    """The specification that validated input stands for, with the defaults of a job."""
    changes = changes_from(values)
    command = changes.pop("command", ())
    name = changes.pop("name", None) or default_name(command)
    return JobSpec(name=name, command=command, milli_gpus=changes.pop("milli_gpus", MILLI), **changes)


def changes_from(values: dict[str, Any]) -> dict[str, Any]:
    """Fields of ``JobSpec`` by its own names, only those that were given."""
    given = {_RENAMED.get(name, name): value for name, value in values.items() if name != "project"}
    if "gpu_model" in given:
        model = given.pop("gpu_model")
        if model is not None:
            given["gpu_models"] = [model]
    for name in ("command", "gpu_models", "datasets"):
        if name in given:
            given[name] = tuple(given[name])
    return given


def default_name(command: tuple[str, ...]) -> str:
    """The program without its folder."""
    first = command[0].strip() if command else ""
    return (PurePosixPath(first.split("\n")[0]).name or "job")[:200]
