"""The form of a new job. It only parses; what is allowed is said by the service."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.models import GpuModel
from inventory.selectors import interconnects
from projects.models import Project
from scheduling.commands import command_of
from scheduling.engine import MILLI
from scheduling.spec import MAX_GRACE_SECONDS, MAX_SECONDS, SIGNALS, JobSpec

HOUR, MINUTE = 3600, 60
FIELD_OF = {
    "max_runtime_s": "max_runtime_h",
    "checkpoint_interval_s": "checkpoint_interval_m",
    "grace_s": "grace_m",
    "project": "project",
    "memory_bytes": "memory_gib",
    "gpu_memory_bytes": "gpu_memory_gib",
}
"""Where the form shows a refusal of the service that names another unit."""


class JobForm(forms.Form):
    """Bounds of fields in another unit than the service's are here, so that the refusal speaks in the field's unit."""

    project = forms.ModelChoiceField(Project.objects.none(), label=gettext_lazy("Project"), empty_label=None)
    name = forms.CharField(max_length=200, label=gettext_lazy("Name"))
    command = forms.CharField(
        strip=False,
        label=gettext_lazy("Command"),
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "One plain line is run as a program with its arguments. Several lines, pipes and variables run as a "
            "script under bash -lc."
        ),
    )
    gpu_models = forms.ModelMultipleChoiceField(
        GpuModel.objects.none(),
        required=False,
        label=gettext_lazy("GPU models"),
        widget=forms.CheckboxSelectMultiple,
        to_field_name="name",
        help_text=gettext_lazy("None chosen: any on which the project has a quota."),
    )
    gpus = forms.DecimalField(
        min_value=Decimal("0.01"),
        decimal_places=3,
        initial=1,
        label=gettext_lazy("GPUs"),
        help_text=gettext_lazy("In total. Less than 1 is a part of one GPU."),
    )
    nodes_exact = forms.IntegerField(
        required=False,
        min_value=1,
        label=gettext_lazy("Nodes"),
        help_text=gettext_lazy("Empty: one node. Otherwise exactly so many, all or nothing."),
    )
    is_preemptible = forms.BooleanField(
        required=False,
        label=gettext_lazy("Preemptible: may run on idle GPUs above the guarantee, and give way"),
    )
    max_runtime_h = forms.DecimalField(
        required=False,
        min_value=Decimal("0.01"),
        max_value=MAX_SECONDS // HOUR,
        initial=24,
        decimal_places=2,
        label=gettext_lazy("Max runtime"),
    )
    max_retries = forms.IntegerField(
        required=False,
        min_value=0,
        initial=2,
        label=gettext_lazy("Retries"),
        help_text=gettext_lazy("After a failure."),
    )
    checkpoint_dir = forms.CharField(
        required=False,
        max_length=500,
        label=gettext_lazy("Checkpoint folder"),
        help_text=gettext_lazy(
            "An absolute path in storage that outlives the attempt; what is stopped goes on from there. A relative "
            "one lies in the job's own folder and is deleted with it."
        ),
    )
    checkpoint_interval_m = forms.DecimalField(
        required=False,
        min_value=Decimal("0.1"),
        max_value=MAX_SECONDS // MINUTE,
        initial=30,
        decimal_places=1,
        label=gettext_lazy("Checkpoint every"),
    )
    signal = forms.ChoiceField(
        choices=[(name, name) for name in SIGNALS], initial="SIGTERM", label=gettext_lazy("Signal to stop")
    )
    grace_m = forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        max_value=MAX_GRACE_SECONDS // MINUTE,
        decimal_places=1,
        label=gettext_lazy("Grace time"),
        help_text=gettext_lazy("Empty: the pool's."),
    )
    priority = forms.IntegerField(
        required=False,
        initial=0,
        label=gettext_lazy("Priority"),
        min_value=-1000,
        max_value=1000,
        help_text=gettext_lazy(
            "Among the jobs of its project: the larger comes first, and may take the place of a preemptible job with a "
            "smaller one."
        ),
    )
    cpus = forms.IntegerField(
        required=False, min_value=0, label=gettext_lazy("CPUs"), help_text=gettext_lazy("Per node; empty: no claim.")
    )
    memory_gib = forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        decimal_places=2,
        label=gettext_lazy("Memory"),
        help_text=gettext_lazy("Per node; empty: no claim."),
    )
    gpu_memory_gib = forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        decimal_places=2,
        label=gettext_lazy("GPU memory"),
        help_text=gettext_lazy("At least so much on each GPU; empty: any."),
    )
    interconnect = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Interconnect"),
        help_text=gettext_lazy("Between the GPUs of a node, as nodes report it."),
    )
    is_exclusive = forms.BooleanField(
        required=False, label=gettext_lazy("Nodes of its own: nothing else runs on them meanwhile")
    )
    shares_device = forms.BooleanField(
        required=False,
        label=gettext_lazy("Share the GPU: jobs of other projects that say so, too, may use the rest of it"),
    )
    env = forms.CharField(
        required=False,
        initial="LOG_LEVEL=INFO",
        label=gettext_lazy("Variables"),
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text=gettext_lazy("NAME=value, one a line. The whole project can read them: no secrets here."),
    )
    datasets = forms.CharField(
        required=False,
        label=gettext_lazy("Datasets"),
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text=gettext_lazy("One a line: absolute path, then a space and the version."),
    )

    def __init__(self, *args: Any, projects: Sequence[Project], **options: Any) -> None:
        super().__init__(*args, **options)
        own = Project.objects.filter(pk__in=[project.pk for project in projects])
        self._choose_from("project", own.order_by("name"))
        self._choose_from("gpu_models", GpuModel.objects.order_by("name"))
        field = self.fields["interconnect"]
        if isinstance(field, forms.ChoiceField):
            wanted = self.initial.get("interconnect")
            field.choices = [
                ("", _("Any")),
                *((name, name) for name in sorted({*interconnects(), *filter(None, [wanted])})),
            ]

    def _choose_from(self, name: str, rows: QuerySet[Any]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = rows

    def clean_command(self) -> tuple[str, ...]:
        try:
            return command_of(self.cleaned_data["command"])
        except ValueError as error:
            raise forms.ValidationError(_("This cannot be split into words: a quote is not closed.")) from error

    def clean_env(self) -> dict[str, str]:
        """``NAME=value`` lines; a line without ``=`` is said by its text."""
        found: dict[str, str] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["env"].splitlines())):
            name, equals, value = line.partition("=")
            if not equals:
                raise forms.ValidationError(_("“%(line)s” is not NAME=value.") % {"line": line[:60]})
            found[name.strip()] = value
        return found

    def clean_datasets(self) -> tuple[dict[str, str], ...]:
        rows = []
        for line in filter(None, map(str.strip, self.cleaned_data["datasets"].splitlines())):
            path, _space, version = line.partition(" ")
            rows.append({"path": path, **({"version": version.strip()} if version.strip() else {})})
        return tuple(rows)

    def spec(self) -> JobSpec:
        """What was asked for. The form is valid."""
        data = self.cleaned_data
        return JobSpec(
            name=data["name"],
            command=data["command"],
            milli_gpus=int(data["gpus"] * MILLI),
            gpu_models=tuple(model.name for model in data["gpu_models"]),
            nodes_exact=data["nodes_exact"],
            cpus=data["cpus"] or 0,
            memory_bytes=int((data["memory_gib"] or 0) * 2**30),
            gpu_memory_bytes=int((data["gpu_memory_gib"] or 0) * 2**30),
            interconnect=data["interconnect"],
            is_exclusive=data["is_exclusive"],
            shares_device=data["shares_device"],
            is_preemptible=data["is_preemptible"],
            priority=data["priority"] or 0,
            max_runtime_s=_seconds(data["max_runtime_h"], HOUR),
            grace_s=_seconds(data["grace_m"], MINUTE),
            max_retries=data["max_retries"] or 0,
            env=data["env"],
            datasets=data["datasets"],
            checkpoint_dir=data["checkpoint_dir"],
            checkpoint_interval_s=_seconds(data["checkpoint_interval_m"], MINUTE),
            signal=data["signal"],
        )


def _seconds(amount: Decimal | None, unit: int) -> int | None:
    return None if amount is None else round(amount * unit)
