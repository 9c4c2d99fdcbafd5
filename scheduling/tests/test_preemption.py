"""A job gives way: told to stop, back at its old place, what it lost on record, and its GPUs kept for the newcomer."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from accounts.tests import factories as people
from inventory.models import GpuModel
from kernel import clock
from kernel.errors import IllegalTransition
from kernel.intervals import Interval
from kernel.ranges import to_range
from kernel.unit import unit_of_work
from projects.models import Project
from projects.services import project_suspend
from quotas.models import Claim, ClaimKind, Resource
from quotas.services import reserve_set
from scheduling import events, selectors, services
from scheduling.engine import decide
from scheduling.engine.model import Decision as Decided
from scheduling.engine.model import Snapshot
from scheduling.models import Attempt, Decision, Earmark, Interruption, Job
from scheduling.policy import Choices
from scheduling.services.apply import decision_apply
from scheduling.snapshot import load_snapshot
from scheduling.states import JobState
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db

LATER = timedelta(hours=1)
"""Past every minimum run time."""


class Scene:
    """A node of two GPUs, a project that is promised both, and another whose preemptible job uses them."""

    def __init__(self, **guest: Any) -> None:
        self.fake = make.node(gpus=2)
        self.owner = make.project(gpus=2, limit=2)
        self.guest = make.project(gpus=0, limit=2)
        self.victim = make.running_job(
            self.guest,
            [self.fake],
            milli_gpus=2000,
            is_preemptible=True,
            **guest,
        )
        [self.member] = make.members_of(self.victim)
        self.began = make.attempt_of(self.victim).started_at or clock.now()

    def arrive(self) -> Job:
        """The newcomer comes and the scheduler decides."""
        newcomer = make.job(self.owner, milli_gpus=2000)
        make.decide()
        self.victim.refresh_from_db()
        newcomer.refresh_from_db()
        return newcomer

    def stop(self, *, saved_at: datetime | None = None, code: int = 0) -> None:
        """The node hears the order and carries it out."""
        [order] = self.fake.sync().stop
        assert (order.reason, order.grace_s) == ("preempted", 300)
        report = self.fake.held[self.member.pk]
        self.fake.held[self.member.pk] = make.replace_report(
            report, newest_checkpoint_at=saved_at, signalled_at=clock.now()
        )
        self.fake.end(self.member.pk, "stopped", code)
        self.fake.sync()
        self.victim.refresh_from_db()


def test_a_job_gives_way_and_its_gpus_are_the_newcomers() -> None:
    scene = Scene()
    queued_at = scene.victim.queued_at
    with clock.frozen(scene.began + LATER):
        newcomer = scene.arrive()
        assert (scene.victim.state, scene.victim.reason_code) == (JobState.STOPPING, "preempted")
        assert make.attempt_of(scene.victim).stop_reason == "preempted"
        assert (newcomer.state, newcomer.reason_code) == (JobState.QUEUED, "releasing")
        mark = Earmark.objects.get()
        assert (mark.job_id, mark.node_id, mark.milli) == (newcomer.pk, scene.fake.node.pk, 2000)
        # Whatever comes meanwhile, releasing GPUs are nobody's, and nothing is decided twice.
        assert make.decide() == []
        assert (Interruption.objects.count(), Earmark.objects.count()) == (1, 1)
    with clock.frozen(scene.began + LATER + timedelta(minutes=2)):
        scene.stop(saved_at=scene.began + timedelta(minutes=50), code=143)
        assert (scene.victim.state, scene.victim.queued_at) == (JobState.QUEUED, queued_at)
        assert make.attempt_of(scene.victim).cause == "preempted"
        lost = Interruption.objects.get()
        assert (lost.job_id, lost.by_id, lost.cause) == (scene.victim.pk, newcomer.pk, "preempted")
        # Two GPUs since the checkpoint twelve minutes ago.
        assert lost.lost_milli_gpu_seconds == 2000 * 12 * 60
        assert make.decide() == [newcomer.pk]
        assert not Earmark.objects.exists()
        scene.victim.refresh_from_db()
        assert scene.victim.state == JobState.QUEUED
    kept = Decision.objects.filter(preempted__isnull=False).exclude(preempted=[]).get()
    assert [(row["job"], row["for"]) for row in kept.preempted] == [(scene.victim.pk, newcomer.pk)]
    assert [row["job"] for row in kept.earmarks or ()] == [newcomer.pk]


def test_a_checkpoint_saved_in_the_grace_time_loses_only_what_came_after_it() -> None:
    scene = Scene(checkpoint_dir="/data/ckpt")
    with clock.frozen(scene.began + LATER):
        scene.arrive()
        [order] = scene.fake.sync().stop
    with clock.frozen(scene.began + LATER + timedelta(seconds=70)):
        report = scene.fake.held[scene.member.pk]
        saved_at = scene.began + LATER + timedelta(seconds=60)
        scene.fake.held[order.member_id] = make.replace_report(report, newest_checkpoint_at=saved_at)
        scene.fake.end(scene.member.pk, "stopped", 0)
        scene.fake.sync()
    lost = Interruption.objects.get()
    assert (lost.checkpoint_at, lost.lost_milli_gpu_seconds) == (saved_at, 2000 * 10)


def test_an_exit_code_of_0_after_the_signal_is_no_end() -> None:
    """A handler that saves and leaves says 0, too: the job has not finished."""
    scene = Scene()
    with clock.frozen(scene.began + LATER):
        scene.arrive()
        scene.stop(code=0)
        assert scene.victim.state == JobState.QUEUED


def test_a_job_that_ended_before_the_signal_is_over_and_lost_nothing() -> None:
    scene = Scene()
    with clock.frozen(scene.began + LATER):
        newcomer = scene.arrive()
        scene.fake.end(scene.member.pk, "finished", 0)
        scene.fake.sync()
        scene.victim.refresh_from_db()
        assert scene.victim.state == JobState.SUCCEEDED
        assert Interruption.objects.get().lost_milli_gpu_seconds == 0
        assert make.decide() == [newcomer.pk]


def test_a_job_that_failed_before_the_signal_uses_its_retries() -> None:
    scene = Scene(max_retries=0)
    with clock.frozen(scene.began + LATER):
        scene.arrive()
        scene.fake.end(scene.member.pk, "finished", 3)
        scene.fake.sync()
        scene.victim.refresh_from_db()
        assert (scene.victim.state, scene.victim.reason_code) == (JobState.FAILED, "exit_code")


def test_what_gives_way_can_be_stopped_for_good_and_only_once() -> None:
    scene = Scene()
    with clock.frozen(scene.began + LATER):
        newcomer = scene.arrive()
        owner = scene.victim.owner
        assert "cancel" in selectors.job_detail(owner, scene.victim.pk).possible
        services.job_cancel(actor=owner, job_id=scene.victim.pk)
        assert "cancel" not in selectors.job_detail(owner, scene.victim.pk).possible
        with pytest.raises(IllegalTransition):
            services.job_cancel(actor=owner, job_id=scene.victim.pk)
        scene.fake.sync()
        scene.fake.end(scene.member.pk, "stopped", 0)
        scene.fake.sync()
        scene.victim.refresh_from_db()
        assert scene.victim.state == JobState.CANCELLED
        assert Interruption.objects.get().lost_milli_gpu_seconds == 0
        assert make.decide() == [newcomer.pk]


def test_what_gives_way_in_a_suspended_project_does_not_come_back() -> None:
    scene = Scene()
    with clock.frozen(scene.began + LATER):
        scene.arrive()
        project_suspend(actor=make.admin(), project_id=scene.guest.pk, reason="over")
        assert events.jobs_stop(scene.guest.pk) == 1
        assert events.jobs_stop(scene.guest.pk) == 0
        scene.fake.sync()
        scene.fake.end(scene.member.pk, "stopped", 0)
        scene.fake.sync()
        scene.victim.refresh_from_db()
        assert (scene.victim.state, scene.victim.reason_code) == (JobState.CANCELLED, "project_state")


def test_a_cancelled_newcomer_gives_its_earmarks_free() -> None:
    scene = Scene()
    with clock.frozen(scene.began + LATER):
        newcomer = scene.arrive()
        services.job_cancel(actor=newcomer.owner, job_id=newcomer.pk)
        assert not Earmark.objects.exists()
        scene.stop()
        assert make.decide() == [scene.victim.pk]


def test_who_has_just_started_does_not_give_way() -> None:
    scene = Scene()
    with clock.frozen(scene.began + timedelta(minutes=10)):
        newcomer = scene.arrive()
        assert (scene.victim.state, newcomer.state) == (JobState.RUNNING, JobState.QUEUED)
    choices = Choices(min_runtime_s=60)
    services.policy_set(actor=make.admin(), choices=choices, seen_version=0)
    with clock.frozen(scene.began + timedelta(minutes=10)):
        make.decide()
        scene.victim.refresh_from_db()
        assert scene.victim.state == JobState.STOPPING


def test_all_victims_of_a_newcomer_stop_or_none() -> None:
    """One of two has ended when the decision is to be applied: the other goes on, and the next decision sees both."""
    fake = make.node(gpus=2)
    owner, guest = make.project(gpus=2, limit=2), make.project(gpus=0, limit=2)
    pair = [make.running_job(guest, [fake], is_preemptible=True) for _ in range(2)]
    with clock.frozen(clock.now() + LATER):
        newcomer = make.job(owner, milli_gpus=2000)
        decided, snapshot = decided_now()
        assert {preempt.job for preempt in decided.preempt} == {job.pk for job in pair}
        [member] = make.members_of(pair[0])
        fake.end(member.pk)
        fake.sync()
        with unit_of_work():
            applied = decision_apply(snapshot, decided, Choices(), clock.now())
        assert (applied.preempted, applied.dropped, applied.earmarks) == ((), (newcomer.pk,), ())
        assert {Job.objects.get(pk=pair[1].pk).state} == {JobState.RUNNING}
        assert not Interruption.objects.exists()
        make.decide()
        assert Job.objects.get(pk=pair[1].pk).state == JobState.STOPPING


def test_a_newcomer_whose_quota_was_cut_meanwhile_stops_nobody() -> None:
    scene = Scene()
    with clock.frozen(scene.began + LATER):
        newcomer = make.job(scene.owner, milli_gpus=2000)
        decided, snapshot = decided_now()
        assert [preempt.job for preempt in decided.preempt] == [scene.victim.pk]
        make.grant(scene.owner, 1, 1)
        with unit_of_work():
            applied = decision_apply(snapshot, decided, Choices(), clock.now())
        assert (applied.preempted, applied.dropped) == ((), (newcomer.pk,))


def decided_now() -> tuple[Decided, Snapshot]:
    now = clock.now()
    snapshot = load_snapshot(now, Choices())
    return decide(snapshot, now.timestamp(), Choices().engine(300)), snapshot


def test_the_reserve_is_for_jobs_under_an_emergency_grant() -> None:
    fake = make.node(gpus=4)
    model = fake.node.gpu_model
    assert model is not None
    reserve_set(actor=make.admin(), gpu_model_id=model.pk, basis_points=5000)
    ordinary = make.project(gpus=0, limit=4)
    first = make.job(ordinary, milli_gpus=4000, is_preemptible=True)
    assert make.decide() == []
    first.refresh_from_db()
    assert first.reason_code == "reserve"
    urgent = make.project(gpus=0, limit=0)
    job = make.job(ordinary, milli_gpus=2000, is_preemptible=True)
    assert make.decide() == [job.pk]
    grant_emergency(urgent, model, 2)
    rescue = make.job(urgent, milli_gpus=2000)
    assert make.decide() == [rescue.pk]


def grant_emergency(project: Project, model: GpuModel, gpus: int) -> None:
    Claim.objects.create(
        project=project,
        resource=Resource.GPU,
        gpu_model=model,
        kind=ClaimKind.EMERGENCY,
        guaranteed=gpus,
        limit=gpus,
        during=to_range(Interval(clock.now())),
        granted_by=make.admin(),
        granted_at=clock.now(),
    )


def test_a_gang_that_lost_a_member_stops_and_waits_for_the_silent_node() -> None:
    fakes = [make.node(gpus=1) for _ in range(2)]
    project = make.project(gpus=2, limit=None)
    gang = make.running_job(project, fakes, milli_gpus=2000, nodes_exact=2)
    seen, silent = fakes
    make.fall_silent(silent)
    services.members_lose_sight()
    gang.refresh_from_db()
    assert gang.state == JobState.RUNNING
    with clock.frozen(clock.now() + timedelta(seconds=60)):
        make.decide()
        gang.refresh_from_db()
        assert gang.state == JobState.RUNNING, "a minute has not passed since it was lost"
    with clock.frozen(clock.now() + timedelta(seconds=130)):
        make.decide()
        gang.refresh_from_db()
        assert (gang.state, gang.reason_code) == (JobState.STOPPING, "lost")
        [order] = seen.sync().stop
        seen.end(order.member_id, "stopped", 0)
        seen.sync()
        gang.refresh_from_db()
        # The other half may still run: nothing is started in its place.
        assert gang.state == JobState.STOPPING
        make.fall_silent(silent)
        services.node_declare_lost(actor=make.admin(), node_id=silent.node.pk)
        gang.refresh_from_db()
        assert gang.state == JobState.QUEUED
        assert make.attempt_of(gang).cause == "node_lost"
        assert Interruption.objects.get().by_id is None


def test_one_node_that_is_silent_stops_nothing() -> None:
    fake = make.node(gpus=1)
    job = make.running_job(make.project(gpus=1, limit=None), [fake])
    make.fall_silent(fake)
    services.members_lose_sight()
    with clock.frozen(clock.now() + timedelta(hours=2)):
        make.decide()
        job.refresh_from_db()
        assert job.state == JobState.RUNNING


def test_the_story_says_for_whom_what_was_lost_and_that_it_is_back() -> None:
    scene = Scene()
    with clock.frozen(scene.began + LATER):
        newcomer = scene.arrive()
        reader = people.browser(scene.victim.owner)
        page = reader.get(f"/jobs/{scene.victim.pk}").content.decode()
        assert f"It gives way to job {newcomer.pk}" in page
        scene.stop()
        make.decide()
        page = reader.get(f"/jobs/{scene.victim.pk}").content.decode()
        assert f"It gave way to job {newcomer.pk}" in page
        assert "2.0 GPU-hours of work were lost" in page
        assert "old place" in page
        admin = people.browser(make.admin()).get(f"/jobs/{scene.victim.pk}").content.decode()
        assert f"job {newcomer.pk} ({newcomer.name})" in admin
    assert Attempt.objects.filter(job=scene.victim).count() == 1
