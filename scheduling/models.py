"""Jobs, their attempts, the members of an attempt on nodes, and the devices each member holds.

Shares of devices are milli-GPU: 1000 is the whole device. Live allocations of one device never sum to more; the
database refuses it.
"""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import F, Q

from accounts.models import Person
from inventory.models import Device, GpuModel, Node
from kernel.unit import LockRank
from projects.models import Project
from scheduling.engine import MILLI
from scheduling.states import ATTEMPT, JOB, MEMBER, AttemptState, Cause, JobState


class Job(models.Model):
    """What a researcher asked to run. ``milli_gpus`` is the total over all nodes."""

    lock_rank = LockRank.JOB
    machine = JOB
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="jobs")
    owner = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="jobs")
    name = models.CharField(max_length=200)
    command = ArrayField(models.TextField())
    env = models.JSONField(default=dict)
    environment = models.BigIntegerField(null=True)
    """An environment version, once there are environments."""
    datasets = models.JSONField(default=list)
    gpu_models = models.ManyToManyField(GpuModel, related_name="+")
    """Allowed models; none means any that the project may use."""
    milli_gpus = models.PositiveIntegerField()
    nodes_exact = models.PositiveIntegerField(null=True)
    cpus = models.PositiveIntegerField(default=0)
    memory_bytes = models.BigIntegerField(default=0)
    gpu_memory_bytes = models.BigIntegerField(default=0)
    """At least so much on each of its GPUs; 0: any."""
    interconnect = models.CharField(max_length=40, blank=True)
    is_exclusive = models.BooleanField(default=False)
    """Nothing else runs on its nodes."""
    shares_device = models.BooleanField(default=False)
    """Other projects whose jobs say so, too, may use the rest of its GPU."""
    is_preemptible = models.BooleanField(default=False)
    priority = models.IntegerField(default=0)
    max_runtime_s = models.PositiveIntegerField(null=True)
    grace_s = models.PositiveIntegerField(null=True)
    max_retries = models.PositiveIntegerField(default=0)
    signal = models.CharField(max_length=20, default="SIGTERM")
    checkpoint_dir = models.CharField(max_length=500, blank=True)
    checkpoint_interval_s = models.PositiveIntegerField(null=True)
    launch_check = models.JSONField(default=list)
    state = models.CharField(max_length=20, choices=JobState.choices, default=JobState.QUEUED)
    reason = models.TextField(blank=True)
    """Why it waits or ended so, one English sentence; ``reason_code`` and ``reason_data`` are for screens."""
    reason_code = models.CharField(max_length=40, blank=True)
    reason_data = models.JSONField(default=dict)
    submitted_at = models.DateTimeField()
    queued_at = models.DateTimeField()
    """When it first came into the queue: a preempted job keeps its place."""
    not_before = models.DateTimeField(null=True)
    """Back-off after a failed launch."""
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="job_shape",
                condition=Q(milli_gpus__gte=0)
                & (Q(nodes_exact__isnull=True) | Q(nodes_exact__gte=1))
                & Q(command__len__gte=1),
            ),
        ]
        indexes = [
            models.Index(fields=["queued_at", "id"], name="job_queue", condition=Q(state="queued")),
            models.Index(fields=["project", "state"], name="job_project_state"),
            models.Index(fields=["owner", "state"], name="job_owner_state"),
        ]

    def __str__(self) -> str:
        return self.name


class Attempt(models.Model):
    """One try at running a job. ``number`` is its fencing number: a node obeys the highest alone."""

    machine = ATTEMPT
    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveIntegerField()
    launcher = models.CharField(max_length=20)
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, related_name="+")
    """What it was placed on: whose quota it uses."""
    state = models.CharField(max_length=20, choices=AttemptState.choices, default=AttemptState.ASSIGNED)
    cause = models.CharField(max_length=20, choices=Cause.choices, blank=True)
    exit_code = models.IntegerField(null=True)
    message = models.TextField(blank=True)
    stop_reason = models.CharField(max_length=20, blank=True)
    stop_requested_at = models.DateTimeField(null=True)
    is_preemptible = models.BooleanField(default=False)
    """As it was when it started: protection is fixed then."""
    max_runtime_s = models.PositiveIntegerField(null=True)
    """The shorter of what the job asked for and what its pools allowed when it was placed; null: no end is set."""
    assigned_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="attempt_number_once"),
            models.UniqueConstraint(fields=["job"], name="attempt_live_once", condition=~Q(state="ended")),
            models.CheckConstraint(
                name="attempt_cause_iff_ended",
                condition=(Q(state="ended") & ~Q(cause="") & Q(ended_at__isnull=False))
                | (~Q(state="ended") & Q(cause="") & Q(ended_at__isnull=True)),
            ),
        ]


class AttemptMember(models.Model):
    """The part of an attempt that runs on one node."""

    machine = MEMBER
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="members")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="members")
    rank = models.PositiveIntegerField()
    launch_key = models.UUIDField(unique=True)
    state = models.CharField(max_length=20, choices=AttemptState.choices, default=AttemptState.ASSIGNED)
    exit_record = models.JSONField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    newest_checkpoint_at = models.DateTimeField(null=True)
    signalled_at = models.DateTimeField(null=True)
    """When its node began to stop it; a checkpoint counts as saved if it is newer."""
    last_report_at = models.DateTimeField(null=True)
    log_bytes = models.BigIntegerField(default=0)
    """Length of this member's log as the node reports it."""
    log_stored_bytes = models.BigIntegerField(default=0)
    """How much of it is stored, without a gap: the sum of its chunks."""
    fetched_at = models.DateTimeField(null=True)
    """When the node first fetched the launch. Before that nothing of it can be running there."""
    is_forgotten = models.BooleanField(default=False)
    """The node has been told that it may delete what it keeps of this member."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "node"], name="attemptmember_node_once"),
            models.UniqueConstraint(fields=["attempt", "rank"], name="attemptmember_rank_once"),
        ]
        indexes = [
            models.Index(fields=["node"], name="attemptmember_held", condition=Q(is_forgotten=False)),
        ]


class DeviceAllocation(models.Model):
    """A member's share of one device, from the decision until the device is known to be free."""

    member = models.ForeignKey(AttemptMember, on_delete=models.PROTECT, related_name="allocations")
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="allocations")
    milli = models.PositiveIntegerField()
    allocated_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="deviceallocation_milli", condition=Q(milli__gte=1, milli__lte=MILLI)),
            models.CheckConstraint(
                name="deviceallocation_interval",
                condition=Q(released_at__isnull=True) | Q(released_at__gte=F("allocated_at")),
            ),
            models.UniqueConstraint(fields=["member", "device"], name="deviceallocation_once"),
        ]
        indexes = [
            models.Index(fields=["device"], name="deviceallocation_live", condition=Q(released_at__isnull=True)),
            models.Index(fields=["device", "allocated_at"], name="deviceallocation_history"),
            models.Index(fields=["released_at"], name="deviceallocation_released"),
        ]


class Charge(models.Model):
    """What an allocation cost: one row per allocation, day of the organisation and price in force."""

    allocation = models.ForeignKey(DeviceAllocation, on_delete=models.PROTECT, related_name="charges")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="charges")
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, related_name="+")
    day = models.DateField()
    during = DateTimeRangeField()
    milli_gpu_seconds = models.BigIntegerField()
    per_gpu_hour = models.DecimalField(max_digits=12, decimal_places=4, null=True)
    """Null where the node had no price: unknown, not free."""
    currency = models.CharField(max_length=3, blank=True)
    is_simulated = models.BooleanField()

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="charge_once",
                expressions=[("allocation", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            ),
            models.CheckConstraint(name="charge_not_negative", condition=Q(milli_gpu_seconds__gte=0)),
        ]
        indexes = [models.Index(fields=["project", "day"], name="charge_project_day")]


class Interruption(models.Model):
    """The ledger of what interruptions cost (JOB10): one row per attempt that gave way or lost its node.

    Open from the decision until the attempt has ended; then ``lost_milli_gpu_seconds`` is what ``milli_gpus`` did from
    ``lost_from`` on, the last checkpoint or the start, and nothing of it was lost if the attempt ended by itself.
    """

    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="interruption")
    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="interruptions")
    by = models.ForeignKey(Job, on_delete=models.PROTECT, null=True, related_name="interrupted")
    """The job it gave way to."""
    cause = models.CharField(max_length=20, choices=Cause.choices)
    milli_gpus = models.PositiveIntegerField()
    requested_at = models.DateTimeField()
    checkpoint_at = models.DateTimeField(null=True)
    lost_from = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    lost_milli_gpu_seconds = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="interruption_booked_whole",
                condition=Q(ended_at__isnull=True, lost_milli_gpu_seconds__isnull=True)
                | Q(ended_at__isnull=False, lost_milli_gpu_seconds__gte=0),
            ),
        ]
        indexes = [
            models.Index(fields=["job", "requested_at"], name="interruption_job_day"),
            models.Index(fields=["ended_at"], name="interruption_ended_at"),
        ]


class Earmark(models.Model):
    """GPUs that were freed for a queued job: nobody else gets them. Replaced by each decision's list."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="earmarks")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="earmarks")
    milli = models.PositiveIntegerField()
    since = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "node"], name="earmark_once"),
            models.CheckConstraint(name="earmark_milli", condition=Q(milli__gte=1)),
        ]


class SchedulingPolicy(models.Model):
    """The organisation's choices for the scheduler (``scheduling.policy``). Rows are only added; the newest counts."""

    version = models.PositiveIntegerField(unique=True)
    """Counted from 1. Who changes the policy names the version that was seen; of two, one comes too late."""
    values = models.JSONField()
    reason = models.TextField(blank=True)
    set_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField()


class PastUse(models.Model):
    """What a project used of a GPU model and what it lost, released before ``through``, decayed to that instant.

    Kept by the deciding leader alone, so that a decision reads what is live and new, not the whole past.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.CASCADE, related_name="+")
    milli_gpu_seconds = models.FloatField()
    through = models.DateTimeField()
    half_life_s = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "gpu_model"], name="pastuse_once")]


class JobLog(models.Model):
    """Length of a job's log in bytes. Chunks are appended in order of arrival and never move."""

    job = models.OneToOneField(Job, on_delete=models.PROTECT, primary_key=True, related_name="log")
    size = models.BigIntegerField(default=0)


class LogChunk(models.Model):
    """A piece of one member's log: at ``offset`` in the job's log, at ``member_offset`` in the member's own."""

    log = models.ForeignKey(JobLog, on_delete=models.PROTECT, related_name="chunks")
    offset = models.BigIntegerField()
    member = models.ForeignKey(AttemptMember, on_delete=models.PROTECT, related_name="log_chunks")
    member_offset = models.BigIntegerField()
    data = models.BinaryField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["log", "offset"], name="logchunk_offset_once"),
            models.UniqueConstraint(fields=["member", "member_offset"], name="logchunk_member_offset_once"),
        ]


class Decision(models.Model):
    """What one decision changed, with its reasons: kept only where it says something that the ones before did not."""

    decided_at = models.DateTimeField()
    started = models.JSONField(default=list)
    preempted = models.JSONField(default=list)
    earmarks = models.JSONField(null=True)
    """All of them, where they changed; null: as before."""
    waiting = models.JSONField(default=list)
    """Jobs whose reason changed."""
    queued_jobs = models.PositiveIntegerField()
    cpu_seconds = models.FloatField()

    class Meta:
        indexes = [models.Index(fields=["decided_at"], name="decision_decided_at")]
