"""A small organisation with nodes that speak the agents' protocol, for the tests of this room and those above."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import Person
from accounts.tests import factories as people
from agent.messages import PROTOCOL, ExitCause, ExitRecord, Hardware, Launch, MemberReport, Sync, SyncReply
from inventory.models import GpuModel, Node, Pool, Source
from inventory.services import EnrolmentSpec, enrolment_token_issue, node_enrol
from inventory.tests import factories as hardware
from kernel import clock
from projects.models import Project
from projects.tests import factories as registry
from quotas.services import GrantSpec, quota_grant
from scheduling import services
from scheduling.models import Attempt, AttemptMember, Job
from scheduling.spec import JobSpec

GIB = 2**30
MODEL = "NVIDIA H100 80GB HBM3"
OTHER_MODEL = "NVIDIA A100-SXM4-40GB"
_numbers = count(1)


def instant(text: str) -> datetime:
    """``"2030-03-01 12:00"`` in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class FakeNode:
    """The protocol's other side: what a node would hold, and the messages it would send. No process runs."""

    name: str
    node: Node
    hardware: Hardware
    token: str = ""
    held: dict[int, MemberReport] = field(default_factory=dict)
    launches: dict[int, Launch] = field(default_factory=dict)
    logs: dict[int, bytes] = field(default_factory=dict)
    sequence: int = 0
    boot_id: str = "boot-1"

    def message(self) -> Sync:
        """The next sync, with all that the node holds."""
        self.sequence += 1
        return Sync(
            PROTOCOL,
            self.boot_id,
            self.sequence,
            clock.now(),
            "1.0",
            self.hardware,
            tuple(self.held[pk] for pk in sorted(self.held)),
        )

    def send(self, message: Sync) -> SyncReply:
        """Hand a message to the portal, whatever its age; do nothing about the answer."""
        return services.node_sync(node=Node.objects.select_related("pool").get(pk=self.node.pk), sync=message)

    def sync(self) -> SyncReply:
        """One exchange, and what a node does about the answer: start, stop, forget."""
        reply = self.send(self.message())
        for order in reply.stop:
            report = self.held.get(order.member_id)
            if report is not None and report.fencing == order.fencing:
                self.held[order.member_id] = replace_report(report, state="stopping")
        for member_id in reply.forget:
            self.held.pop(member_id, None)
        for member_id in reply.run:
            if member_id not in self.held:
                self.fetch(member_id)
        return reply

    def fetch(self, member_id: int) -> Launch:
        """Fetch a launch and start it."""
        launch = services.launch_for(node=self.node, member_id=member_id)
        self.launches[member_id] = launch
        self.held[member_id] = MemberReport(member_id, launch.fencing, "starting")
        return launch

    def run(self, member_id: int) -> None:
        """Its process runs."""
        self.held[member_id] = replace_report(self.held[member_id], state="running", started_at=clock.now())

    def end(self, member_id: int, cause: ExitCause = "finished", code: int | None = 0, message: str = "") -> None:
        """Its process has ended; the log is what ``logs`` holds."""
        report = self.held[member_id]
        record = ExitRecord(cause, code, None, report.started_at, clock.now(), message)
        size = len(self.logs.get(member_id, b""))
        self.held[member_id] = replace_report(report, state="ended", exit=record, log_bytes=size)

    def send_logs(self) -> None:
        """Send whatever the portal lacks of every log."""
        for member_id, data in self.logs.items():
            stored = AttemptMember.objects.get(pk=member_id).log_stored_bytes
            services.log_append(node=self.node, member_id=member_id, offset=stored, data=data[stored:])


def replace_report(report: MemberReport, **changes: object) -> MemberReport:
    values = {name: getattr(report, name) for name in report.__struct_fields__}
    return MemberReport(**{**values, **changes})


def person(username: str = "") -> Person:
    return people.person(username or f"someone-{next(_numbers)}")


def admin() -> Person:
    return registry.admin()


def pool(name: str = "shared", **fields: object) -> Pool:
    return hardware.pool(name, **fields)


def node(
    name: str = "", *, gpus: int = 8, model: str = MODEL, where: Pool | None = None, source: str = Source.OWNED
) -> FakeNode:
    """A node that has enrolled and has been heard once."""
    name = name or f"node-{next(_numbers)}"
    spec = EnrolmentSpec(name, (where or pool()).pk, source)
    secret = enrolment_token_issue(actor=admin(), spec=spec)[1]
    hw = hardware.hardware(name, gpus, model)
    answer = node_enrol(message=hardware.enrol_message(secret, hw))
    fake = FakeNode(name, Node.objects.select_related("pool").get(pk=answer.node_id), hw, answer.token)
    fake.sync()
    return fake


def grant(project: Project, gpus: int, limit: int | None = None, *, model: GpuModel | None = None) -> None:
    """A quota on the first GPU model, or on ``model``."""
    which = model or GpuModel.objects.filter(devices__isnull=False).order_by("pk").first()
    spec = GrantSpec(project_id=project.pk, guaranteed=gpus, limit=limit, gpu_model_id=which.pk if which else None)
    quota_grant(actor=admin(), grant=spec)


def project(lead: Person | None = None, *, gpus: int = 4, limit: int | None = 8, **changes: object) -> Project:
    """An active project with a quota on the first GPU model that a node has."""
    made = registry.active_project(lead=lead or person(), **changes)  # type: ignore[arg-type]
    grant(made, gpus, limit)
    return made


def spec(**changes: object) -> JobSpec:
    base = JobSpec(name="train", command=("python", "train.py"), milli_gpus=1000)
    return replace(base, **changes)  # type: ignore[arg-type]


def job(of: Project, owner: Person | None = None, **changes: Any) -> Job:
    """A job in the queue, submitted by the project's lead or by ``owner``."""
    return services.job_submit(actor=owner or of.created_by, project_id=of.pk, spec=spec(**changes))


def decide() -> list[int]:
    """One tick; the ids of the jobs it started."""
    return [pk for done in services.decide_and_apply(clock.now()) for pk in done.started]


def running_job(of: Project, on: Iterable[FakeNode], **changes: Any) -> Job:
    """A job whose members all run on these nodes."""
    nodes = list(on)
    made = job(of, **changes)
    decide()
    for fake in nodes:
        fake.sync()
        for member_id in list(fake.held):
            if fake.held[member_id].state == "starting":
                fake.run(member_id)
        fake.sync()
    made.refresh_from_db()
    return made


def attempt_of(of: Job) -> Attempt:
    """The newest attempt."""
    found = Attempt.objects.filter(job=of).order_by("-number").first()
    assert found is not None
    return found


def members_of(of: Job) -> list[AttemptMember]:
    return list(attempt_of(of).members.order_by("rank"))


def fall_silent(*fakes: FakeNode) -> None:
    """Nothing was heard of these nodes for an hour, by the database's clock."""
    long_ago = timezone.now().replace(year=timezone.now().year - 1)
    Node.objects.filter(pk__in=[fake.node.pk for fake in fakes]).update(last_seen_at=long_ago)


def wait_until_someone_waits_for_a_lock(seconds: float = 10.0) -> None:
    """Return once another connection waits for a lock of this database; fail after a while."""
    deadline = time.monotonic() + seconds
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(waiting)
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nobody came to wait for a lock")


def replace_sync(message: Sync, **changes: object) -> Sync:
    """The same message with some fields changed."""
    values = {name: getattr(message, name) for name in message.__struct_fields__}
    return Sync(**{**values, **changes})


def running_report(member_id: int, *, fencing: int = 1) -> MemberReport:
    """A member as a node reports it while it runs."""
    return MemberReport(member_id, fencing, "running", clock.now())
