"""The small organisation in which every row of the table is called."""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import Person, Role, Scope
from accounts.services import AnnouncementSpec, announcement_publish, announcement_withdraw
from accounts.tests import factories as people
from accounts.tests.told import failed, told
from approvals.models import Approval
from approvals.services import delegation_create
from inventory.models import GpuModel, PoolKind, Source
from inventory.services import EnrolmentSpec, enrolment_token_issue
from kernel import clock, form_drafts
from kernel.form_drafts import Typed
from kernel.models import AuditEntry
from portal.pages.bulk.services import bulk_change
from portal.pages.views.services import ViewSpec, view_create, view_delete
from portal.tests.permissions.table import Row
from projects.content import REGISTRATION, content_hash
from projects.models import Project, ProjectRole, ResearchArea
from projects.services import Stated, measurement_confirm, measurement_state, member_change_role
from projects.tests import factories as registry
from projects.tests import import_factories
from quotas.models import Claim
from quotas.services import AccessSpec, RequestFacts, attachment_add, pool_open, request_create
from scheduling.services import job_cancel, job_pause
from scheduling.tests import factories as jobs

ROLES: dict[str, tuple[Role, ...]] = {
    "stranger": (),
    "researcher": (),
    "lead": (),
    "director": (Role.DIRECTOR,),
    "admin": (Role.ADMIN,),
    "auditor": (Role.AUDITOR,),
}


@dataclass
class World:
    """People by kind, and the ids that addresses and bodies name."""

    people: dict[str, Person]
    ids: dict[str, Any]
    node_tokens: dict[str, str]
    _clients: dict[tuple[str, ...], Any] = field(default_factory=dict)

    def call(self, row: Row, caller: str, *, scopes: tuple[Scope, ...] = (Scope.WRITE,)) -> Any:
        """The answer to one row for one caller; whatever it did is undone."""
        client = self._client(row, caller, scopes)
        cookies = client.cookies.copy()
        try:
            if row.is_stream:
                return self._send(client, row)
            with transaction.atomic():
                answer = self._send(client, row)
                transaction.set_rollback(True)
            return answer
        finally:
            client.cookies = cookies

    def filled(self, value: Any) -> Any:
        """``{project}`` and the like replaced by ids, in texts, lists and mappings; a lone one keeps its type."""
        if isinstance(value, str):
            if value.startswith("{") and value.endswith("}") and value[1:-1] in self.ids:
                return self.ids[value[1:-1]]
            return value.format(**self.ids) if "{" in value else value
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        return [self.filled(item) for item in value] if isinstance(value, list) else value

    def _send(self, client: Any, row: Row) -> HttpResponse:
        path, body = self.filled(row.path), self.filled(row.body)
        if row.query:
            path += "?" + "&".join(f"{name}={self.filled(value)}" for name, value in row.query.items())
        send = getattr(client, row.method.lower())
        if isinstance(body, bytes):
            answer = send(path, body, content_type="application/json")
        else:
            answer = send(path, body) if body is not None else send(path)
        return answer  # type: ignore[no-any-return]

    def _client(self, row: Row, caller: str, scopes: tuple[Scope, ...]) -> Any:
        key = ("api" if row.is_api else "page", caller, *scopes)
        if key not in self._clients:
            self._clients[key] = self._new_client(row, caller, scopes)
        return self._clients[key]

    def _new_client(self, row: Row, caller: str, scopes: tuple[Scope, ...]) -> Any:
        if caller in self.node_tokens:
            return APIClient(HTTP_AUTHORIZATION=f"Bearer {self.node_tokens[caller]}")
        if caller == "nobody":
            return APIClient()
        if row.is_api:
            return people.api_client(self.people.get(caller), *scopes)
        return people.browser(self.people.get(caller)) if caller in self.people else Client()

    def prepare(self, rows: list[Row]) -> None:
        """Make every client before the first call: tokens and sessions made inside one would be undone with it."""
        for row in rows:
            for caller in row.callers:
                for scopes in ((Scope.WRITE,), (Scope.READ,), (Scope.JOBS,)):
                    self._client(row, caller, scopes)


def build() -> World:
    """Two nodes, projects in several states with one team, jobs, people of every kind."""
    cast = {name: people.person(name, *roles, password=people.PASSWORD) for name, roles in ROLES.items()}
    # The table's many calls take minutes on a slow machine: its nodes do not fall silent meanwhile.
    hall = jobs.pool(lost_after_s=24 * 3600)
    first, second = jobs.node("node-a", where=hall), jobs.node("node-b", where=hall)
    projects = _projects(cast)
    running = jobs.running_job(projects["project"], [first, second], name="running")
    member = jobs.members_of(running)[0]
    rows = {**projects, **_jobs(projects["project"], cast["researcher"]), **_people(cast["lead"]), **_machines(cast)}
    rows |= _told(cast["admin"], cast["lead"])
    rows |= import_factories.in_every_state(cast["lead"], "World ")
    ids_of = {name: row.pk for name, row in rows.items()}
    ids_of["milestone"] = projects["project"].milestones.earliest("pk").pk
    ids = {
        **ids_of,
        **{f"{name}_id": person.pk for name, person in cast.items()},
        **_measurements(cast, projects["project"]),
        "content": content_hash(projects["submitted"]),
        "form_draft": _form_draft(cast["lead"]),
        **_flow(cast, projects["submitted"]),
        "claim": Claim.objects.get(project=projects["project"]).pk,
        "running": running.pk,
        **_views(cast["lead"], projects),
        **_requests(cast["lead"], projects["project"]),
        "access": pool_open(actor=cast["admin"], access=AccessSpec(ids_of["dedicated"], area_id=ids_of["area"])).pk,
        "member": member.pk,
        "node": member.node_id,
        "pool": first.node.pool_id,
    }
    holder, other = (first, second) if member.node_id == first.node.pk else (second, first)
    return World(cast, ids, {"node": holder.token, "other": other.token})


def _views(lead: Person, projects: dict[str, Any]) -> dict[str, Any]:
    """Views of the lead, and a bulk change that the lead made, of a project that nobody touches afterwards."""
    shared = view_create(actor=lead, spec=ViewSpec("Shared", "state=active", is_shared=True))
    private = view_create(actor=lead, spec=ViewSpec("Private", "sort=-used"))
    deleted = view_create(actor=lead, spec=ViewSpec("Deleted", "", is_shared=True))
    view_delete(actor=lead, view_id=deleted.pk)
    suspended = projects["suspended"]
    bulk = bulk_change(actor=lead, field="stage", value="training", seen={suspended.pk: content_hash(suspended)})
    return {
        "shared": shared.pk,
        "private": private.pk,
        "deleted": deleted.pk,
        "bulk": bulk.pk,
        "project_seen": f"{projects['project'].pk}:{content_hash(projects['project'])}",
    }


def _projects(cast: dict[str, Person]) -> dict[str, Any]:
    """One in each state, with the same team; the active one has a second lead, so that the first may go."""
    lead, researcher, second = cast["lead"], cast["researcher"], people.person("second-lead")
    active = registry.active_project(lead=lead, researchers=(researcher, second), name="Active")
    member_change_role(actor=lead, project_id=active.pk, person_id=second.pk, role=ProjectRole.LEAD)
    jobs.grant(active, 4, 8)
    others = {
        "draft": registry.draft_project(lead=lead, name="Draft"),
        "submitted": registry.submitted_project(lead=lead, name="Submitted"),
        "suspended": registry.suspended_project(lead=lead, name="Suspended"),
    }
    for project in others.values():
        registry.enrol(project, researcher)
    return {"project": active, **others}


def _flow(cast: dict[str, Person], submitted: Project) -> dict[str, int]:
    """The approval of the submitted registration, and a stand-in of the director."""
    until = clock.now() + timedelta(days=14)
    stand_in = delegation_create(
        actor=cast["director"], stand_in_id=cast["researcher"].pk, starts_at=None, ends_at=until, reason="away"
    )
    approval = Approval.objects.get(kind=REGISTRATION, subject_id=submitted.pk)
    return {"approval": approval.pk, "delegation": stand_in.pk}


def _requests(lead: Person, project: Project) -> dict[str, int]:
    """A draft that asks for more, with a file."""
    model = GpuModel.objects.get(name="h100")
    facts: RequestFacts = {"gpu_model_id": model.pk, "guaranteed": 6, "limit": 8, "reason": "A larger run"}
    draft = request_create(actor=lead, project_id=project.pk, facts=facts)
    kept = attachment_add(actor=lead, request_id=draft.pk, name="plan.txt", content=b"A plan")
    return {"quota_draft": draft.pk, "quota_file": kept.pk}


def _form_draft(owner: Person) -> UUID:
    typed = Typed("projects.register", {"name": ["Half a name"]}, writer="a page")
    return form_drafts.save(owner_id=owner.pk, key=uuid4(), typed=typed).key


def _measurements(cast: dict[str, Person], project: Project) -> dict[str, int]:
    """One that waits and one that counts, on two models."""
    other = registry.gpu_model("a100")
    rows = [
        measurement_state(
            actor=cast["lead"], project_id=project.pk, stated=Stated(model, Decimal(100), "tokens/s", "A run")
        )
        for model in ("h100", other.name)
    ]
    confirmed = measurement_confirm(actor=cast["admin"], measurement_id=rows[1].pk)
    return {"proposed": rows[0].pk, "confirmed": confirmed.pk}


def _jobs(project: Project, owner: Person) -> dict[str, Any]:
    return {
        "job": jobs.job(project, owner, name="queued"),
        "paused": job_pause(actor=owner, job_id=jobs.job(project, owner, name="paused").pk),
        "ended": job_cancel(actor=owner, job_id=jobs.job(project, owner, name="ended").pk),
    }


def _people(lead: Person) -> dict[str, Any]:
    gone = people.deactivated("gone")
    return {
        "newcomer": people.person("newcomer"),
        "service": people.service_account("robot"),
        "gone": gone,
        "offboarding": gone.offboardings.get(),
        "token": people.token(lead, name="of the lead")[0],
        "entry": AuditEntry.objects.latest("id"),
    }


def _told(admin: Person, lead: Person) -> dict[str, Any]:
    """Announcements: shown, still secret, taken back. The lead has a notification whose mail failed."""
    later = clock.now() + timedelta(days=30)
    withdrawn = announcement_publish(actor=admin, spec=AnnouncementSpec("announcement", "Withdrawn"))
    notification = told(lead)
    return {
        "notification": notification,
        "delivery": failed(notification),
        "announcement": announcement_publish(actor=admin, spec=AnnouncementSpec("announcement", "Shown")),
        "planned": announcement_publish(actor=admin, spec=AnnouncementSpec("announcement", "Planned", starts_at=later)),
        "withdrawn": announcement_withdraw(actor=admin, announcement_id=withdrawn.pk),
    }


def _machines(cast: dict[str, Person]) -> dict[str, Any]:
    dedicated = jobs.pool("kept", kind=PoolKind.DEDICATED)
    spec = EnrolmentSpec("node-d", dedicated.pk, Source.OWNED)
    return {
        "spare": jobs.pool("spare"),
        "dedicated": dedicated,
        "enrolment": enrolment_token_issue(actor=cast["admin"], spec=spec)[0],
        "gpu_model": GpuModel.objects.get(name="h100"),
        "area": ResearchArea.objects.create(name="vision", title="Vision"),
    }
