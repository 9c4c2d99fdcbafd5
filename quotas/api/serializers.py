"""Shapes of this room's API."""

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from kernel.api.fields import InstantField
from quotas.models import ClaimKind, Resource

Fields = serializers.Serializer[Any]


class GpuModelOutput(Fields):
    """Whole GPUs at this instant: usable = capacity − reserve; promised to projects, areas and pools."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    title = serializers.CharField()
    memory_bytes = serializers.IntegerField()
    interconnect = serializers.CharField()
    suitability = serializers.FloatField(help_text="How fast one GPU is, H100 = 1; 0: nobody has rated it.")
    capacity = serializers.IntegerField()
    reserve = serializers.IntegerField()
    usable = serializers.IntegerField()
    promised = serializers.IntegerField()


class GpuModelPatch(Fields):
    title = serializers.CharField(max_length=100, required=False)
    memory_bytes = serializers.IntegerField(min_value=0, max_value=2**63 - 1, required=False)
    interconnect = serializers.CharField(max_length=40, required=False, allow_blank=True)
    suitability = serializers.DecimalField(
        max_digits=6, decimal_places=3, min_value=Decimal(0), max_value=Decimal(100), required=False
    )


class QuotaOutput(Fields):
    """``used`` is of the project as a whole for that resource and model; null where nobody can tell."""

    id = serializers.IntegerField()
    project = serializers.IntegerField()
    resource = serializers.ChoiceField(choices=Resource.choices)
    gpu_model = serializers.CharField(allow_null=True)
    kind = serializers.ChoiceField(choices=ClaimKind.choices)
    guaranteed = serializers.IntegerField()
    limit = serializers.IntegerField(allow_null=True)
    used = serializers.FloatField(allow_null=True)
    effective_from = serializers.DateTimeField()
    effective_to = serializers.DateTimeField(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]  # a field here, not the source of this object
    reason = serializers.CharField()


class GrantInput(Fields):
    """GPUs are whole; memory and storage in bytes. ``limit`` null: no limit; ``effective_from`` null: now."""

    project = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    resource = serializers.ChoiceField(choices=Resource.choices, default=Resource.GPU)
    gpu_model = serializers.CharField(
        max_length=60, required=False, allow_null=True, help_text="Name or id of a GPU model."
    )
    guaranteed = serializers.IntegerField()
    limit = serializers.IntegerField(required=False, allow_null=True)
    effective_from = InstantField(required=False, allow_null=True)
    effective_to = InstantField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class AreaGrantInput(GrantInput):
    """What a research area is promised on top of its projects' own guarantees."""

    project = None  # type: ignore[assignment]
    area = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


class AreaQuotaOutput(Fields):
    id = serializers.IntegerField()
    area = serializers.CharField()
    resource = serializers.ChoiceField(choices=Resource.choices)
    gpu_model = serializers.CharField(allow_null=True)
    guaranteed = serializers.IntegerField()
    limit = serializers.IntegerField(allow_null=True)
    effective_from = serializers.DateTimeField()
    effective_to = serializers.DateTimeField(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]  # a field here, not the source of this object
    reason = serializers.CharField()


class EndInput(Fields):
    at = InstantField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class DatedInput(Fields):
    effective_from = InstantField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class ReserveInput(DatedInput):
    basis_points = serializers.IntegerField(
        min_value=0, max_value=10_000, help_text="Hundredths of a per cent of the capacity; rounded up to whole GPUs."
    )


class CapacityInput(DatedInput):
    gpus = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    gpu_model = serializers.CharField(
        max_length=60, required=False, allow_null=True, help_text="Name or id; only for a node with several models."
    )


class CapacityOutput(Fields):
    id = serializers.IntegerField()
    name = serializers.CharField()
    gpus = serializers.IntegerField()


class MoveInput(Fields):
    pool = serializers.CharField(max_length=60, help_text="Name or id of the pool it goes to.")
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class DedicateInput(Fields):
    purpose = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class PoolStateOutput(Fields):
    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField()
    purpose = serializers.CharField()


class AccessInput(DatedInput):
    """Exactly one of ``project`` and ``area``; ``effective_from`` null: now, ``effective_to`` null: until ended."""

    project = serializers.IntegerField(min_value=1, max_value=2**63 - 1, required=False, allow_null=True)
    area = serializers.IntegerField(min_value=1, max_value=2**63 - 1, required=False, allow_null=True)
    effective_to = InstantField(required=False, allow_null=True)


class AccessOutput(Fields):
    """Exactly one of ``project`` and ``area`` is set; an area stands for its projects and those of areas below it."""

    id = serializers.IntegerField()
    pool = serializers.IntegerField()
    project = serializers.IntegerField(allow_null=True)
    area = serializers.IntegerField(allow_null=True)
    effective_from = serializers.DateTimeField()
    effective_to = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField()
