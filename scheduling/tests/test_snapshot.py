"""What the engine is shown of jobs, nodes, projects and research areas."""

from datetime import timedelta
from fractions import Fraction

import pytest

from inventory.models import DeviceState, GpuModel
from inventory.models import Node as NodeRow
from kernel import clock
from projects.models import ResearchArea, Tier
from projects.services import tier_set
from quotas.services import AreaGrantSpec, area_grant
from scheduling import services
from scheduling.engine.model import Entitlement, Job, JobState, NodeState, Snapshot
from scheduling.models import AttemptMember, Interruption
from scheduling.policy import Choices
from scheduling.snapshot import load_snapshot
from scheduling.states import Cause
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db

MODEL = "h100"


def seen(choices: Choices | None = None) -> Snapshot:
    return load_snapshot(clock.now(), choices or Choices())


def job_of(snapshot: Snapshot, pk: int) -> Job:
    [found] = [job for job in snapshot.jobs if job.id == pk]
    return found


def test_what_a_waiting_job_asks() -> None:
    make.node(gpus=4)
    project = make.project(gpus=4, limit=4)
    row = make.job(
        project,
        milli_gpus=4000,
        nodes_exact=2,
        gpu_memory_bytes=5,
        interconnect="nvlink",
        is_exclusive=True,
        priority=7,
        checkpoint_interval_s=7200,
        gpu_models=(MODEL,),
    )
    job = job_of(seen(), row.pk)
    ask = job.ask
    assert (ask.milli, ask.nodes, ask.gpu_models) == (2000, 2, frozenset({MODEL}))
    assert (ask.gpu_memory_bytes, ask.interconnect, ask.is_exclusive, ask.shares_device) == (5, "nvlink", True, False)
    assert (job.state, job.priority, job.order) == (JobState.QUEUED, 7, row.pk)
    # Stopped before its first checkpoint it would begin anew.
    assert job.min_runtime_s == 7200
    assert job_of(seen(Choices(min_runtime_s=9999)), row.pk).min_runtime_s == 9999


def test_a_long_checkpoint_interval_is_no_shield() -> None:
    make.node(gpus=1)
    row = make.job(make.project(gpus=1, limit=1), is_preemptible=True, checkpoint_interval_s=366 * 86_400)
    assert job_of(seen(), row.pk).min_runtime_s == 7200


def test_what_a_running_job_holds_and_has_saved() -> None:
    fake = make.node(gpus=2)
    row = make.running_job(make.project(gpus=2, limit=2), [fake], milli_gpus=2000, is_preemptible=True)
    [member] = make.members_of(row)
    saved_at = clock.now()
    AttemptMember.objects.filter(pk=member.pk).update(newest_checkpoint_at=saved_at)
    job = job_of(seen(), row.pk)
    assert (job.state, job.gpu_model, job.is_preemptible) == (JobState.RUNNING, MODEL, True)
    assert sum(job.placement[fake.node.pk].values()) == 2000
    assert job.last_checkpoint_at == saved_at.timestamp()
    assert job.started_at == (make.attempt_of(row).started_at or saved_at).timestamp()
    services.job_cancel(actor=row.owner, job_id=row.pk)
    assert job_of(seen(), row.pk).state == JobState.STOPPING


def test_interruptions_count_by_the_organisations_day() -> None:
    fake = make.node(gpus=1)
    row = make.running_job(make.project(gpus=1, limit=1), [fake])
    interruption = Interruption.objects.create(
        attempt=make.attempt_of(row), job=row, cause=Cause.PREEMPTED, milli_gpus=1000, requested_at=clock.now()
    )
    assert job_of(seen(), row.pk).interruptions_today == 1
    Interruption.objects.filter(pk=interruption.pk).update(requested_at=clock.now() - timedelta(days=1))
    assert job_of(seen(), row.pk).interruptions_today == 0
    Interruption.objects.filter(pk=interruption.pk).update(requested_at=clock.now(), cause=Cause.NODE_LOST)
    assert job_of(seen(), row.pk).interruptions_today == 0


@pytest.mark.parametrize(
    ("state", "shown"),
    [("up", "up"), ("draining", "draining"), ("suspect", "suspect"), ("down", "down"), ("maintenance", "down")],
)
def test_a_nodes_state_and_hardware(state: str, shown: str) -> None:
    fake = make.node(gpus=2)
    NodeRow.objects.filter(pk=fake.node.pk).update(state=state, interconnect="nvlink")
    lost = fake.node.devices.first()
    assert lost is not None
    lost.state = DeviceState.LOST
    lost.save()
    [node] = seen().nodes
    assert (node.state, node.interconnect, len(node.devices)) == (NodeState(shown), "nvlink", 1)
    assert node.gpu_memory_bytes == lost.memory_bytes


def test_devices_of_what_was_given_up_are_not_there() -> None:
    fake = make.node(gpus=2)
    make.running_job(make.project(gpus=1, limit=2), [fake])
    make.fall_silent(fake)
    services.members_lose_sight()
    services.node_declare_lost(actor=make.admin(), node_id=fake.node.pk)
    [node] = seen().nodes
    assert len(node.devices) == 1


def test_tiers_and_areas_and_what_they_are_promised() -> None:
    make.node(gpus=8)
    top = ResearchArea.objects.create(name="top", title="Top")
    inner = ResearchArea.objects.create(name="inner", title="Inner", parent=top)
    project, other = make.project(gpus=2, limit=3), make.project(gpus=1, limit=None)
    for row, area in ((project, inner), (other, top)):
        row.area = area
        row.save()
    make.job(project)
    tier_set(actor=make.admin(), project_id=project.pk, tier=Tier.HIGH, reason="Rank")
    area_grant(
        actor=make.admin(),
        grant=AreaGrantSpec(inner.pk, 1, 2, gpu_model_id=GpuModel.objects.get(name=MODEL).pk),
    )
    snapshot = seen()
    [party] = snapshot.projects
    assert (party.group, party.entitlement.weight, party.entitlement.rank) == (inner.pk, Fraction(4), 2)
    assert party.entitlement == Entitlement({MODEL: 2000}, {MODEL: 3000}, Fraction(4), 2, {})
    groups = {group.id: group for group in snapshot.groups}
    assert (groups[inner.pk].parent, groups[top.pk].parent) == (top.pk, None)
    # Its projects' guarantees with its own claim on top; the limit in place of the claim's guarantee.
    assert groups[inner.pk].entitlement == Entitlement({MODEL: 3000}, {MODEL: 4000})
    assert groups[top.pk].entitlement == Entitlement({MODEL: 4000}, {})
