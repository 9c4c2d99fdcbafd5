"""A small organisation in which every call of the API finds something: made by the services, as in life."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction

from accounts.models import Announcement, Notification, NotificationDelivery, Person, Scope, ServiceToken
from accounts.services import AnnouncementSpec, announcement_publish
from accounts.tests import factories as people
from accounts.tests.told import failed, told
from approvals.models import Approval, Delegation
from approvals.services import delegation_create
from inventory.models import EnrolmentToken, GpuModel, Node, Pool
from kernel import audit, clock
from kernel.models import AuditEntry
from portal.models import SavedView
from portal.pages.views.services import ViewSpec, view_create
from projects.content import REGISTRATION
from projects.models import Measurement, Project, ProjectImport, ResearchArea, Tier
from projects.services import Stated, area_create, measurement_confirm, measurement_state
from projects.tests import factories as registry
from projects.tests import import_factories
from quotas.models import Claim
from quotas.services import (
    AccessSpec,
    AreaGrantSpec,
    RequestFacts,
    area_grant,
    attachment_add,
    pool_dedicate,
    pool_open,
    request_create,
)
from scheduling.models import Job
from scheduling.tests import factories as cluster

ROLES = ("admin", "director", "auditor", "lead", "researcher", "stranger")


@dataclass(frozen=True)
class World:
    """People by role, and what there is of each resource by the first word of its address."""

    people: Mapping[str, Person]
    tokens: Mapping[str, str]
    ids: Mapping[str, Sequence[int]]
    values: Mapping[str, Sequence[Any]]
    """Values that exist, by the name of the field that takes them, or by resource and field."""
    targets: Mapping[str, Any]
    """On what an act is possible, by the resource and the last word of its address; other ids by their names."""


@contextmanager
def undone() -> Iterator[None]:
    """What was written is checked as a commit would, and taken back."""
    with transaction.atomic():
        yield
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        transaction.set_rollback(True)


def build() -> World:
    """Projects in every state; nodes; quota; jobs that wait, run and have ended."""
    cast = {
        "admin": people.admin("world-admin"),
        "director": people.director("world-director"),
        "auditor": people.auditor("world-auditor"),
        "lead": people.person("world-lead"),
        "researcher": people.person("world-researcher"),
        "stranger": people.person("world-stranger"),
    }
    area = area_create(actor=cast["admin"], name="vision", title="Vision")
    fake = cluster.node("node-a")
    cluster.node("node-b", where=cluster.pool("second"))
    team = (cast["researcher"],)
    active = registry.active_project(lead=cast["lead"], researchers=team, tier=Tier.MID, area="vision")
    draft = registry.draft_project(lead=cast["lead"])
    submitted = registry.submitted_project(lead=cast["lead"])
    suspended = registry.suspended_project(lead=cast["lead"])
    registry.rejected_project(lead=cast["lead"])
    registry.closed_project(lead=cast["lead"])
    cluster.grant(active, 4, 8)
    on_top = AreaGrantSpec(area.pk, 1, gpu_model_id=GpuModel.objects.get(name="h100").pk)
    area_grant(actor=cast["admin"], grant=on_top)
    _run_jobs(active, fake)
    view_create(actor=cast["admin"], spec=ViewSpec("Of the admin", "state=active"))
    announcement_publish(actor=cast["admin"], spec=AnnouncementSpec("announcement", "News"))
    failed(told(cast["admin"]))
    imports = import_factories.in_every_state(cast["admin"], "World ")
    audit.seal_pending()
    tokens = {role: people.token(person, Scope.WRITE)[1] for role, person in cast.items()}
    ids = {**_ids(), "people": [cast["researcher"].pk, *_ids()["people"]]}
    targets = {f"projects {step}": submitted.pk for step in ("approve", "reject", "return", "withdraw")}
    targets |= {"projects submit": draft.pk, "projects {id}": draft.pk, "projects resume": suspended.pk}
    targets |= {"people language": cast["admin"].pk, "project-imports undo": imports["import_applied"].pk}
    targets |= {f"project-imports {act}": imports["import_checked"].pk for act in ("check", "apply", "discard")}
    targets |= _flow(cast, submitted)
    targets |= _asked(cast["lead"], active)
    targets |= _measured(cast["admin"], active)
    targets |= _dedicated_pool(cast["admin"], active)
    return World(cast, tokens, ids, _values(), targets)


def _flow(cast: Mapping[str, Person], submitted: Project) -> dict[str, Any]:
    """What waits is the submitted registration; a stand-in of the admin; the rules of registrations."""
    approval = Approval.objects.get(kind=REGISTRATION, subject_id=submitted.pk)
    until = clock.now() + timedelta(days=14)
    stand_in = delegation_create(
        actor=cast["admin"], stand_in_id=people.person("stand-in").pk, starts_at=None, ends_at=until, reason="away"
    )
    acts = ("approve", "reject", "return", "delegate", "comments", "{id}")
    return {
        **{f"approvals {act}": approval.pk for act in acts},
        "delegations revoke": stand_in.pk,
        "kind": REGISTRATION,
    }


def _asked(lead: Person, project: Project) -> dict[str, int]:
    """A draft that asks for more quota, with a file."""
    model = GpuModel.objects.get(name="h100")
    facts: RequestFacts = {"gpu_model_id": model.pk, "guaranteed": 6, "limit": 8, "reason": "A larger run"}
    draft = request_create(actor=lead, project_id=project.pk, facts=facts)
    kept = attachment_add(actor=lead, request_id=draft.pk, name="plan.txt", content=b"A plan")
    acts = ("submit", "withdraw", "clone", "attachments", "{attachment_id}", "{id}")
    return {**{f"quota-requests {act}": draft.pk for act in acts}, "attachment_id": kept.pk}


def _dedicated_pool(admin: Person, project: Project) -> dict[str, int]:
    pool = pool_dedicate(actor=admin, pool_id=cluster.pool("kept").pk, purpose="Evaluation")
    access = pool_open(actor=admin, access=AccessSpec(pool.pk, project_id=project.pk))
    return {**{f"pools {act}": pool.pk for act in ("release", "access", "end")}, "access_id": access.pk}


def _measured(admin: Person, project: Project) -> dict[str, int]:
    """One that waits, one that counts."""
    rows = [
        measurement_state(
            actor=project.created_by, project_id=project.pk, stated=Stated(model, Decimal(100), "tokens/s", "A run")
        )
        for model in ("h100", registry.gpu_model("l4").name)
    ]
    confirmed = measurement_confirm(actor=admin, measurement_id=rows[1].pk)
    targets = {f"measurements {act}": rows[0].pk for act in ("confirm", "reject", "withdraw", "{id}")}
    return {**targets, "measurements revoke": confirmed.pk}


def _run_jobs(project: Project, fake: cluster.FakeNode) -> None:
    """One job that has ended, one that runs, one that waits."""
    cluster.running_job(project, [fake], name="ended")
    (member,) = fake.held
    fake.logs[member] = b"step 1\nstep 2\n"
    fake.end(member)
    fake.send_logs()
    fake.sync()
    cluster.running_job(project, [fake], name="runs", datasets=({"path": "/data/a", "version": "1"},))
    cluster.job(project, name="waits", env={"LOG_LEVEL": "INFO"})


def _ids() -> dict[str, list[int]]:
    models: dict[str, Any] = {
        "projects": Project,
        "people": Person,
        "measurements": Measurement,
        "jobs": Job,
        "nodes": Node,
        "pools": Pool,
        "gpu-models": GpuModel,
        "quotas": Claim,
        "audit": AuditEntry,
        "research-areas": ResearchArea,
        "project-imports": ProjectImport,
        "tokens": ServiceToken,
        "announcements": Announcement,
        "notifications": Notification,
        "notification-deliveries": NotificationDelivery,
        "enrolment-tokens": EnrolmentToken,
        "project-views": SavedView,
        "approvals": Approval,
        "delegations": Delegation,
    }
    return {name: list(model.objects.order_by("pk").values_list("pk", flat=True)) for name, model in models.items()}


def _values() -> dict[str, list[Any]]:
    return {
        "project": list(Project.objects.filter(state="active").values_list("pk", flat=True)),
        "gpu_model": list(GpuModel.objects.values_list("name", flat=True)),
        "person": list(Person.objects.values_list("username", flat=True)),
        "owner": list(Person.objects.values_list("username", flat=True)),
        "pool": list(Pool.objects.values_list("pk", flat=True)),
        "area": list(ResearchArea.objects.values_list("name", flat=True)),
        "jobs.datasets": [[{"path": "/data/a", "version": "1"}]],
        "jobs.gpu_models": [[]],
        "jobs.signal": ["SIGTERM"],
        "jobs.env": [{"LOG_LEVEL": "INFO"}],
        "people.role": ["auditor"],
        "people.language": ["zh-hans"],
        "announcements.kind": ["announcement"],
        "announcements.level": ["info"],
        "announcements.audience": [[]],
        "announcements.revision": [1],
        "announcements.starts_at": ["2031-05-01T00:00:00Z"],
        "announcements.ends_at": ["2031-05-02T00:00:00Z"],
        "notifications.mail": [{"jobs": "none"}],
        "notifications.group": ["people"],
        "people.password": ["quiet-harbour-42"],
        "tokens.owner": [""],
        "tokens.scopes": [["read"]],
        "research-areas.parent": [None],
        "projects.cannot_use": [False],
        "projects.throughput": ["1200"],
        "projects.unit": ["tokens/s"],
        "projects.milestones": [[{"name": "Second result", "due_on": "2031-05-01"}]],
        "projects.expected_compute": [[{"gpu_model": "h100", "min": 1, "target": 2, "max": 4}]],
        "area-quotas.area": list(ResearchArea.objects.values_list("pk", flat=True)),
        "nodes.currency": ["EUR"],
        "project-views.query": ["state=active&sort=-used"],
        "pools.area": [None],
        "nodes.last_minute": [1440],
        **_flow_values(),
    }


def _flow_values() -> dict[str, list[Any]]:
    stand_ins = list(Person.objects.filter(username="stand-in").values_list("pk", flat=True))
    return {
        "approvals.to": stand_ins,
        "approvals.version": [None],
        "approvals.comment": ["said by a test"],
        "approvals.changes": [{}],
        "delegations.stand_in": stand_ins,
        "approval-policies.version": [1],
        "quota-requests.guaranteed": [6],
        "quota-requests.name": ["more.txt"],
        "quota-requests.content": ["TW9yZQ=="],
        "quota-requests.answer": [""],
        "approval-policies.rules": [[{"name": "All", "steps": [{"roles": ["admin"]}]}]],
    }
