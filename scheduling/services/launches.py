"""A node fetches what it shall run: the last look at project, job and attempt before anything starts."""

from django.utils.translation import gettext as _

from agent.messages import DeviceShare, Launch
from inventory.models import Node
from kernel import clock
from kernel.errors import NotFound
from kernel.unit import lock, unit_of_work
from projects.models import Project
from projects.states import ProjectState
from scheduling.errors import NoLongerWanted
from scheduling.models import Attempt, AttemptMember, Job
from scheduling.services.acts import stop_live
from scheduling.states import AttemptState


def launch_for(*, node: Node, member_id: int) -> Launch:
    """All that the node needs to start its member; the same, however often it is asked.

    Locks project and job. A project that is no longer active ends the attempt here (REG2). Raises ``NotFound``
    for a member of another node and ``NoLongerWanted``.
    """
    found = (
        AttemptMember.objects.filter(pk=member_id, node=node)
        .values_list("attempt__job_id", "attempt__job__project_id")
        .first()
    )
    if found is None:
        raise NotFound
    job_id, project_id = found
    with unit_of_work():
        rows = lock({Project: [project_id], Job: [job_id]})
        job, project = rows[Job][job_id], rows[Project][project_id]
        member = AttemptMember.objects.select_related("attempt", "node__pool").get(pk=member_id)
        is_wanted = _is_wanted(member)
        if is_wanted and project.state != ProjectState.ACTIVE:
            stop_live(job, "project", "Its project is no longer active.", actor=None)
            is_wanted = False
        if is_wanted:
            if member.fetched_at is None:
                member.fetched_at = clock.now()
                member.save(update_fields=["fetched_at"])
            return _launch(job, member)
    # Outside of the unit: ending the attempt must be kept, not undone by the refusal.
    raise NoLongerWanted(_("This member is not to be started any more."))


def _is_wanted(member: AttemptMember) -> bool:
    attempt: Attempt = member.attempt
    is_live = AttemptState.ENDED not in (member.state, attempt.state)
    return is_live and not attempt.stop_reason


def _launch(job: Job, member: AttemptMember) -> Launch:
    devices = member.allocations.order_by("device__index", "pk").values_list("device__uuid", "milli")
    names = list(member.attempt.members.order_by("rank").values_list("node__name", flat=True))
    return Launch(
        member_id=member.pk,
        launch_key=str(member.launch_key),
        fencing=member.attempt.number,
        job_id=job.pk,
        job_name=job.name,
        command=tuple(job.command),
        env=_environment(job, member, names),
        devices=tuple(DeviceShare(uuid, milli) for uuid, milli in devices),
        cpus=job.cpus,
        memory_bytes=job.memory_bytes,
        max_runtime_s=member.attempt.max_runtime_s,
        grace_s=grace_s(job, member),
        signal=job.signal,
        checkpoint_dir=job.checkpoint_dir,
        rank=member.rank,
        world_size=len(names),
    )


def grace_s(job: Job, member: AttemptMember) -> int:
    """Time between signal and kill: the job's wish, at most as long as its pool allows."""
    allowed = member.node.pool.grace_s
    return allowed if job.grace_s is None else min(job.grace_s, allowed)


def _environment(job: Job, member: AttemptMember, names: list[str]) -> dict[str, str]:
    """The job's own variables, and what the processes of a gang need to find each other."""
    ours = {"SLUICE_PROJECT_ID": str(job.project_id), "SLUICE_ATTEMPT": str(member.attempt.number)}
    return {**job.env, **ours, "SLUICE_NODES": ",".join(names)}
