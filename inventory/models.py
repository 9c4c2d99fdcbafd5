"""What there is to share. Hardware is reported by nodes; capacity is what an admin has accepted, dated."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, IntegerRangeField, RangeOperators
from django.contrib.postgres.indexes import GistIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Person
from inventory.catalogue import UNRATED
from inventory.states import NODE, NodeState
from kernel.unit import LockRank


class GpuModel(models.Model):
    """A model of accelerator. Its row is the lock for all promises on that model."""

    lock_rank = LockRank.CAPACITY
    name = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=100)
    memory_bytes = models.BigIntegerField(default=0)
    interconnect = models.CharField(max_length=40, blank=True)
    suitability = models.DecimalField(max_digits=6, decimal_places=3, default=UNRATED)
    """How fast one of its GPUs is, H100 = 1, for a project that measured nothing; 0: nobody has rated it."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(suitability__gte=0), name="gpumodel_suitability")]

    def __str__(self) -> str:
        return self.title


class PoolKind(models.TextChoices):
    SHARED = "shared", _("Shared")
    DEDICATED = "dedicated", _("Dedicated")


class Pool(models.Model):
    """A set of nodes with one policy. Every node is in exactly one pool."""

    lock_rank = LockRank.POOL
    name = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=100)
    kind = models.CharField(max_length=20, choices=PoolKind.choices, default=PoolKind.SHARED)
    purpose = models.CharField(max_length=200, blank=True)
    launcher = models.CharField(max_length=20, default="agent")
    grace_s = models.PositiveIntegerField(default=300)
    max_runtime_bound_s = models.PositiveIntegerField(null=True)
    lost_after_s = models.PositiveIntegerField(default=60)
    """Silence after which a node counts as down. Its attempts are *unknown* then, not ended."""

    def __str__(self) -> str:
        return self.title


class Source(models.TextChoices):
    OWNED = "owned", _("Own machine room")
    RENTED = "rented", _("Rented cloud")
    SPOT = "spot", _("Spot")
    HYBRID = "hybrid", _("Hybrid")


class EnrolmentToken(models.Model):
    """Lets one node register once. Issuing it is the admin's act that accepts the hardware it will report."""

    node_name = models.CharField(max_length=100)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT)
    source = models.CharField(max_length=20, choices=Source.choices)
    digest = models.CharField(max_length=64, unique=True)
    issued_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)


class Node(models.Model):
    """A machine with an agent. ``hardware`` is its last report, verbatim."""

    lock_rank = LockRank.NODE
    machine = NODE
    name = models.CharField(max_length=100, unique=True)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="nodes")
    state = models.CharField(max_length=20, choices=NodeState.choices, default=NodeState.UP)
    source = models.CharField(max_length=20, choices=Source.choices)
    is_simulated = models.BooleanField()
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, null=True, related_name="nodes")
    cpus = models.PositiveIntegerField()
    memory_bytes = models.BigIntegerField()
    disk_bytes = models.BigIntegerField()
    network_bps = models.BigIntegerField(null=True)
    interconnect = models.CharField(max_length=40, blank=True)
    hardware = models.JSONField(default=dict)
    agent_version = models.CharField(max_length=40, blank=True)
    token_digest = models.CharField(max_length=64, unique=True)
    boot_id = models.CharField(max_length=200, blank=True)
    sync_sequence = models.BigIntegerField(default=0)
    registered_at = models.DateTimeField()
    last_seen_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["state", "pool"], name="node_state_pool")]

    def __str__(self) -> str:
        return self.name

    @property
    def backs_guarantees(self) -> bool:
        """Burst GPUs never do (INV1)."""
        return self.source != Source.SPOT


class DeviceState(models.TextChoices):
    OK = "ok", _("ok")
    LOST = "lost", _("lost")
    RETIRED = "retired", _("retired")


class Device(models.Model):
    """One GPU. Identity is the UUID; the index is for people only."""

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="devices")
    uuid = models.CharField(max_length=200, unique=True)
    index = models.PositiveIntegerField()
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, related_name="devices")
    memory_bytes = models.BigIntegerField()
    is_simulated = models.BooleanField()
    state = models.CharField(max_length=20, choices=DeviceState.choices, default=DeviceState.OK)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    class Meta:
        ordering = ["node_id", "index"]


class NodePrice(models.Model):
    """Price per GPU-hour of a node's GPUs, in force during ``during`` at ``minutes`` of the organisation's day."""

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="prices")
    during = DateTimeRangeField()
    minutes = IntegerRangeField()
    per_gpu_hour = models.DecimalField(max_digits=12, decimal_places=4)
    currency = models.CharField(max_length=3, default="USD")

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="nodeprice_one_at_a_time",
                expressions=[
                    ("node", RangeOperators.EQUAL),
                    ("during", RangeOperators.OVERLAPS),
                    ("minutes", RangeOperators.OVERLAPS),
                ],
            ),
            models.CheckConstraint(condition=Q(per_gpu_hour__gte=0), name="nodeprice_not_negative"),
        ]

    @property
    def hours(self) -> str:
        """The part of the day, as the organisation's clocks show it: ``08:00 – 20:00``."""
        first, last = self.minutes.lower, self.minutes.upper
        return f"{first // 60:02d}:{first % 60:02d} – {last // 60:02d}:{last % 60:02d}"


class CapacityFact(models.Model):
    """GPUs of one node that count as capacity during an interval, whatever the node's state (INV1).

    Changing these rows is an act of ``quotas``, which knows what is promised.
    """

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="capacity_facts")
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, related_name="capacity_facts")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="capacity_facts")
    gpus = models.PositiveIntegerField()
    during = DateTimeRangeField()
    accepted_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="capacityfact_one_at_a_time",
                expressions=[
                    ("node", RangeOperators.EQUAL),
                    ("gpu_model", RangeOperators.EQUAL),
                    ("during", RangeOperators.OVERLAPS),
                ],
            ),
        ]
        indexes = [GistIndex(fields=["gpu_model", "during"], name="capacityfact_model_during")]


class ReserveFact(models.Model):
    """Emergency reserve of a GPU model in basis points of its capacity, during an interval (INV3).

    The reserve in GPUs is rounded up to whole ones.
    """

    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, related_name="reserve_facts")
    basis_points = models.PositiveIntegerField()
    during = DateTimeRangeField()
    set_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="reservefact_one_at_a_time",
                expressions=[("gpu_model", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            ),
            models.CheckConstraint(condition=Q(basis_points__lte=10000), name="reservefact_at_most_all"),
        ]
