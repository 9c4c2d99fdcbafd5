"""An organisation that wrote markup into every text it could: each text says from which field it comes."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

from django.core.cache import cache

from accounts import announcements
from accounts.models import Person, Role
from accounts.services import AnnouncementSpec, announcement_publish, person_create, role_grant
from accounts.tests import factories as people
from accounts.tests.told import failed, told
from agent.messages import Hardware
from approvals.models import Approval
from approvals.rules import Rule, StepRule
from approvals.services import approval_comment, delegation_create, policy_review
from approvals.services import policy_set as rules_set
from inventory.models import GpuModel, Node, Source
from inventory.services import EnrolmentSpec, PoolSpec, enrolment_token_issue, node_enrol, pool_create
from inventory.tests import factories as hardware
from kernel import clock, form_drafts
from kernel.form_drafts import Typed
from kernel.models import AuditEntry
from portal.pages.views.services import ViewSpec, view_create
from projects.content import REGISTRATION
from projects.facts import ComputeAsked, MilestoneAsked
from projects.models import Measurement, Project, ResearchArea
from projects.services import (
    Stated,
    area_create,
    measurement_confirm,
    measurement_state,
    project_decide,
    project_submit,
    project_suspend,
    tier_set,
)
from projects.tests import factories as registry
from projects.tests import import_factories
from quotas.models import Claim
from quotas.services import (
    AccessSpec,
    GrantSpec,
    RequestFacts,
    attachment_add,
    pool_dedicate,
    pool_open,
    quota_grant,
    request_create,
)
from scheduling.policy import Choices
from scheduling.services import job_cancel, job_pause, policy_set
from scheduling.tests import factories as cluster

SCRIPT = '"><script>alert(1)</script><img src=x onerror="alert(2)">'
GIB = 2**30


def said(field: str) -> str:
    """The text of a field: a word to find it by, and what must never be read as markup."""
    return f"{field}{SCRIPT}"


def build() -> tuple[dict[str, Person], dict[str, Any]]:
    """People, and the ids that stand in addresses, by the names of the table of permissions."""
    admin = _person("admin", Role.ADMIN)
    lead, researcher, director = _person("lead"), _person("researcher"), _person("director", Role.DIRECTOR)
    area = area_create(actor=admin, name="vision", title=said("areatitle"))
    pool = pool_create(actor=admin, spec=PoolSpec("second", said("pooltitle")[:100], purpose=said("poolpurpose")))
    fake = _node(admin)
    model = GpuModel.objects.get()
    projects = _projects(admin, lead, researcher, model)
    quota_grant(
        actor=admin,
        grant=GrantSpec(projects["project"].pk, 4, 8, gpu_model_id=model.pk, reason=said("grantreason")),
    )
    policy_set(actor=admin, choices=Choices(min_runtime_s=60), seen_version=0, reason=said("policyreason"))
    rows = {**projects, **_jobs(projects["project"], lead, fake), "area": area, "pool": pool, "spare": pool}
    measured = {row.state: row for row in Measurement.objects.filter(project=projects["project"])}
    rows |= {state: measured[state] for state in ("proposed", "confirmed")}
    rows |= import_factories.in_every_state(lead, said("import"))
    spec = EnrolmentSpec("node-d", pool.pk, Source.OWNED)
    ids = {
        **{name: row.pk for name, row in rows.items()},
        **{f"{person.username}_id": person.pk for person in (lead, researcher, director)},
        "newcomer": researcher.pk,
        "milestone": projects["project"].milestones.get().pk,
        **_gone(admin),
        **_dedicated_pool(admin, projects["project"]),
        "enrolment": enrolment_token_issue(actor=admin, spec=spec)[0].pk,
        "token": people.token(admin, name=said("tokenname")[:100])[0].pk,
        **_views(lead),
        **_asked(lead, projects["project"], model),
        "node": fake.node.pk,
        "gpu_model": model.pk,
        "form_draft": _form_draft(lead),
        "claim": Claim.objects.get(project=projects["project"]).pk,
        "entry": AuditEntry.objects.latest("id").pk,
    }
    flow = _flow(admin, lead, researcher, projects["submitted"])
    return {"admin": admin, "lead": lead}, {**ids, **flow, **_told(admin, lead)}


def _flow(admin: Person, lead: Person, researcher: Person, submitted: Project) -> dict[str, int]:
    """A remark on what waits, a stand-in, and rules with their reason and a look at them."""
    approval = Approval.objects.get(kind=REGISTRATION, subject_id=submitted.pk)
    approval_comment(actor=admin, approval_id=approval.pk, text=said("approvalcomment"))
    until = clock.now() + timedelta(days=14)
    stand_in = delegation_create(
        actor=admin, stand_in_id=researcher.pk, starts_at=None, ends_at=until, reason=said("standinreason")
    )
    rules = (Rule(said("rulename"), (StepRule((Role.ADMIN, Role.DIRECTOR)),)),)
    rules_set(actor=admin, kind=REGISTRATION, rules=rules, seen=1, reason=said("rulereason"))
    policy_review(actor=admin, kind=REGISTRATION, seen=2, note=said("reviewnote"))
    return {"approval": approval.pk, "delegation": stand_in.pk}


def _asked(lead: Person, project: Project, model: GpuModel) -> dict[str, int]:
    """A draft that asks for more quota, with a file."""
    facts: RequestFacts = {"gpu_model_id": model.pk, "guaranteed": 5, "limit": 8, "reason": said("requestreason")}
    draft = request_create(actor=lead, project_id=project.pk, facts=facts)
    name = f"{said('requestfile')}.txt"
    kept = attachment_add(actor=lead, request_id=draft.pk, name=name, content=SCRIPT.encode())
    return {"quota_draft": draft.pk, "quota_file": kept.pk}


def _gone(admin: Person) -> dict[str, int]:
    """Somebody who was off-boarded, and the report."""
    gone = _person("gone", Role.AUDITOR)
    people.token(gone, name=said("gonetoken")[:100])
    return {"gone": gone.pk, "offboarding": people.off_board(gone, actor=admin, reason=said("offboardreason")).pk}


def _told(admin: Person, lead: Person) -> dict[str, int]:
    """In a banner of every page, in the inbox of each, and in the ledger of what was sent."""
    ends_at = clock.now() + timedelta(hours=4)
    news = AnnouncementSpec("announcement", said("newstitle"), said("newstext"))
    work = AnnouncementSpec("maintenance", said("worktitle"), said("worktext"), ends_at=ends_at)
    specs = {"announcement": news, "maintenance": work}
    rows = {name: announcement_publish(actor=admin, spec=spec) for name, spec in specs.items()}
    cache.delete(announcements.CACHE_KEY)
    notification = told(lead, role=said("roleword"), actor=said("rolegiver"))
    told(admin, role=said("roleword"), actor=said("rolegiver"))
    ids = {"notification": notification.pk, "delivery": failed(notification, said("mailerror")).pk}
    return {**ids, **{name: row.pk for name, row in rows.items()}}


def _form_draft(owner: Person) -> UUID:
    """What stands in a form before it is sent: anything."""
    data = {name: [said(f"typed{name}")] for name in ("name", "goal", "datasets", "stage", "answer")}
    data |= {f"milestones-0-{name}": [said(f"typed{name}")] for name in ("name", "due_on", "id")}
    data |= {f"compute-0-{name}": [said(f"typed{name}")] for name in ("gpu_model", "min", "target")}
    data |= {"team-0-person": [said("typedperson")]}
    typed = Typed("projects.register", data, writer="a page")
    return form_drafts.save(owner_id=owner.pk, key=uuid4(), typed=typed).key


def _views(lead: Person) -> dict[str, Any]:
    """Of the lead; the shared one stands in everybody's menu and list."""
    shared = view_create(actor=lead, spec=ViewSpec(said("viewname")[:80], "state=active", is_shared=True))
    private = view_create(actor=lead, spec=ViewSpec(said("private")[:80], f"q={quote(said('words'))}"))
    gone = view_create(actor=lead, spec=ViewSpec(said("lastview")[:80], f"lead={quote(said('leadname'))}"))
    return {"shared": shared.pk, "private": private.pk, "deleted": gone.pk, "bulk": 1, "project_seen": ""}


def _person(username: str, *roles: Role) -> Person:
    someone = person_create(actor=None, username=username, display_name=said(f"name-{username}"))
    for role in roles:
        role_grant(actor=None, person_id=someone.pk, role=role)
    return Person.objects.get(pk=someone.pk)


def _node(admin: Person) -> cluster.FakeNode:
    """What a node reports is text of whoever runs it."""
    devices = hardware.devices("node-a", 8, said("reportedmodel"))
    hw = Hardware(said("hostname"), 8, GIB, GIB, devices, False, interconnect=said("ic")[:40])
    secret = enrolment_token_issue(actor=admin, spec=EnrolmentSpec("node-a", hardware.pool().pk))[1]
    answer = node_enrol(message=hardware.enrol_message(secret, hw))
    node = Node.objects.select_related("pool").get(pk=answer.node_id)
    fake = cluster.FakeNode("node-a", node, hw, answer.token, boot_id=said("boot"))
    fake.sync()
    return fake


def _dedicated_pool(admin: Person, project: Project) -> dict[str, int]:
    pool = pool_dedicate(actor=admin, pool_id=hardware.pool("kept").pk, purpose=said("keptpurpose"))
    spec = AccessSpec(pool.pk, project_id=project.pk, reason=said("accessreason"))
    return {"dedicated": pool.pk, "access": pool_open(actor=admin, access=spec).pk}


def _projects(admin: Person, lead: Person, researcher: Person, model: GpuModel) -> dict[str, Project]:
    def facts(name: str) -> dict[str, Any]:
        return {
            "name": said(f"projectname-{name}"),
            "goal": said("goal"),
            "area": ResearchArea.objects.get().name,
            "datasets": [said("dataset")],
            "milestones": [MilestoneAsked(said("milestone"), date(2020, 1, 31))],
            "expected_compute": [ComputeAsked(model.name, 1, 2, 4)],
        }

    active = registry.submitted_project(lead=lead, **facts("active"))
    registry.enrol(active, researcher)
    project_decide(answer="approve", actor=admin, project_id=active.pk, reason=said("approvereason"))
    tier_set(actor=admin, project_id=active.pk, tier="high", reason=said("tierreason"))
    suspended = registry.active_project(lead=lead, **facts("suspended"))
    project_suspend(actor=admin, project_id=suspended.pk, reason=said("suspendreason"))
    _measured(admin, lead, active, model)
    asked = registry.submitted_project(lead=lead, **facts("submitted"))
    project_decide(answer="return", actor=admin, project_id=asked.pk, reason=said("question"))
    project_submit(actor=lead, project_id=asked.pk, answer=said("answer"))
    return {
        "project": active,
        "draft": registry.draft_project(lead=lead, **facts("draft")),
        "submitted": asked,
        "suspended": suspended,
    }


def _measured(admin: Person, lead: Person, project: Project, model: GpuModel) -> None:
    """One that counts and one that waits."""
    stated = Stated(model.name, Decimal(5), said("u")[:40], said("evidence"), said("job")[:60])
    row = measurement_state(actor=lead, project_id=project.pk, stated=stated)
    measurement_confirm(actor=admin, measurement_id=row.pk, reason=said("confirmreason"))
    measurement_state(actor=lead, project_id=project.pk, stated=stated)


def _jobs(project: Project, lead: Person, fake: cluster.FakeNode) -> dict[str, Any]:
    words: dict[str, Any] = {
        "command": ("sh", "-c", said("command")),
        "env": {"NOTE": said("variable")},
        "checkpoint_dir": said("checkpointdir"),
        "datasets": ({"path": f"/{said('path').replace('..', '')}", "version": said("version")},),
    }
    ended = cluster.running_job(project, [fake], name=said("jobname-ended"), **words)
    (member,) = fake.held
    fake.logs[member] = said("logtext").encode() + b"\n"
    fake.end(member, code=1, message=said("exitmessage"))
    fake.send_logs()
    fake.sync()
    paused = cluster.job(project, name=said("jobname-paused"), **words)
    job_pause(actor=lead, job_id=paused.pk, reason=said("pausereason"))
    cancelled = cluster.job(project, name=said("jobname-cancelled"), **words)
    job_cancel(actor=lead, job_id=cancelled.pk, reason=said("cancelreason"))
    running = cluster.running_job(project, [fake], name=said("jobname-running"), **words)
    return {"ended": ended, "paused": paused, "cancelled": cancelled, "running": running, "job": running}
