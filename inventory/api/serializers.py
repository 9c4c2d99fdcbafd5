"""Shapes of this room's API."""

from typing import Any

from rest_framework import serializers

from inventory.models import PoolKind, Source
from inventory.prices import MINUTES_OF_DAY
from inventory.states import NodeState

Fields = serializers.Serializer[Any]


class PriceOutput(Fields):
    per_gpu_hour = serializers.DecimalField(max_digits=12, decimal_places=4)
    currency = serializers.CharField()


class DeviceOutput(Fields):
    uuid = serializers.CharField()
    index = serializers.IntegerField()
    gpu_model = serializers.CharField()
    memory_bytes = serializers.IntegerField()
    is_simulated = serializers.BooleanField()
    state = serializers.ChoiceField(choices=["ok", "lost", "retired"])
    last_seen_at = serializers.DateTimeField()


class NodeOutput(Fields):
    """``gpus``: accepted as capacity; of a spot node, which never is, what it reports."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=NodeState.choices)
    gpu_model = serializers.CharField(allow_null=True)
    gpus = serializers.IntegerField()
    gpus_accepted = serializers.IntegerField()
    gpus_reported = serializers.IntegerField()
    is_simulated = serializers.BooleanField()
    pool = serializers.CharField()
    source = serializers.ChoiceField(choices=Source.choices)  # type: ignore[assignment]  # a field here, not the source of this object
    price = PriceOutput(allow_null=True)
    last_seen_at = serializers.DateTimeField(allow_null=True)


class NodeDetailOutput(NodeOutput):
    cpus = serializers.IntegerField()
    memory_bytes = serializers.IntegerField()
    disk_bytes = serializers.IntegerField()
    network_bps = serializers.IntegerField(allow_null=True)
    interconnect = serializers.CharField()
    agent_version = serializers.CharField()
    registered_at = serializers.DateTimeField()
    devices = DeviceOutput(many=True)


class PriceInput(Fields):
    per_gpu_hour = serializers.DecimalField(max_digits=12, decimal_places=4, min_value=0)
    currency = serializers.CharField(max_length=3, default="USD")
    first_minute = serializers.IntegerField(min_value=0, max_value=MINUTES_OF_DAY, default=0)
    last_minute = serializers.IntegerField(min_value=0, max_value=MINUTES_OF_DAY, default=MINUTES_OF_DAY)
    effective_from = serializers.DateTimeField(required=False, allow_null=True)


class PoolOutput(Fields):
    id = serializers.IntegerField()
    name = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.ChoiceField(choices=PoolKind.choices)
    purpose = serializers.CharField()
    launcher = serializers.CharField()
    grace_s = serializers.IntegerField()
    max_runtime_bound_s = serializers.IntegerField(allow_null=True)
    lost_after_s = serializers.IntegerField()
    nodes = serializers.IntegerField()
    nodes_up = serializers.IntegerField()
    gpus = serializers.IntegerField()


class PoolPatch(Fields):
    title = serializers.CharField(max_length=100, required=False)
    purpose = serializers.CharField(max_length=200, required=False, allow_blank=True)
    grace_s = serializers.IntegerField(min_value=0, max_value=2**31 - 1, required=False)
    max_runtime_bound_s = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False, allow_null=True)
    lost_after_s = serializers.IntegerField(min_value=10, max_value=2**31 - 1, required=False)


class PoolInput(PoolPatch):
    name = serializers.CharField(max_length=60)
    title = serializers.CharField(max_length=100)


class TokenInput(Fields):
    node_name = serializers.CharField(max_length=100)
    pool = serializers.CharField(max_length=60, help_text="Name or id of a pool.")
    source = serializers.ChoiceField(choices=Source.choices, default=Source.OWNED)  # type: ignore[assignment]  # a field here, not the source of this object
    expires_at = serializers.DateTimeField(required=False, allow_null=True)


class TokenOutput(Fields):
    id = serializers.IntegerField()
    node_name = serializers.CharField()
    pool = serializers.CharField()
    source = serializers.ChoiceField(choices=Source.choices)  # type: ignore[assignment]  # a field here, not the source of this object
    state = serializers.ChoiceField(choices=["open", "used", "revoked", "expired"])
    issued_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class IssuedTokenOutput(TokenOutput):
    token = serializers.CharField(help_text="Shown this once; a repeated call lacks it.")
