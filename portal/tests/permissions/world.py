"""The small organisation in which every row of the table is called."""

from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import Person, Role, Scope
from accounts.tests import factories as people
from inventory.models import GpuModel, PoolKind, Source
from inventory.services import EnrolmentSpec, enrolment_token_issue
from kernel.models import AuditEntry
from portal.tests.permissions.table import Row
from projects.content import content_hash
from projects.models import ProjectRole, ResearchArea
from projects.services import member_change_role
from projects.tests import factories as registry
from quotas.models import Claim
from scheduling.services import job_cancel, job_pause
from scheduling.tests import factories as jobs


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
    cast = {
        "stranger": people.person("stranger", password=people.PASSWORD),
        "researcher": people.person("researcher", password=people.PASSWORD),
        "lead": people.person("lead", password=people.PASSWORD),
        "director": people.person("director", Role.DIRECTOR, password=people.PASSWORD),
        "admin": people.person("admin", Role.ADMIN, password=people.PASSWORD),
        "auditor": people.person("auditor", Role.AUDITOR, password=people.PASSWORD),
    }
    lead, researcher = cast["lead"], cast["researcher"]
    other_lead, newcomer = people.person("other-lead"), people.person("newcomer")
    node, other_node = jobs.node("node-a"), jobs.node("node-b")
    team: dict[str, Any] = {"lead": lead, "researchers": (researcher, other_lead)}
    active = registry.active_project(name="Active", **team)
    member_change_role(actor=lead, project_id=active.pk, person_id=other_lead.pk, role=ProjectRole.LEAD)
    jobs.grant(active, 4, 8)
    running = jobs.running_job(active, [node, other_node], name="running")
    queued = jobs.job(active, researcher, name="queued")
    paused = job_pause(actor=researcher, job_id=jobs.job(active, researcher, name="paused").pk)
    failed = job_cancel(actor=researcher, job_id=jobs.job(active, researcher, name="ended").pk)
    states = {
        "project": active,
        "draft": registry.draft_project(lead=lead, name="Draft"),
        "submitted": registry.submitted_project(lead=lead, name="Submitted"),
        "suspended": registry.suspended_project(lead=lead, name="Suspended"),
    }
    for name in ("draft", "submitted", "suspended"):
        registry.enrol(states[name], researcher)
    member = jobs.members_of(running)[0]
    dedicated = jobs.pool("kept", kind=PoolKind.DEDICATED)
    enrolment = enrolment_token_issue(actor=cast["admin"], spec=EnrolmentSpec("node-d", dedicated.pk, Source.OWNED))[0]
    ids = {
        **{name: project.pk for name, project in states.items()},
        **{f"{name}_id": person.pk for name, person in cast.items()},
        "content": content_hash(states["submitted"]),
        "newcomer": newcomer.pk,
        "service": people.service_account("robot").pk,
        "gone": people.deactivated("gone").pk,
        "token": people.token(lead, name="of the lead")[0].pk,
        "entry": AuditEntry.objects.latest("id").pk,
        "job": queued.pk,
        "running": running.pk,
        "paused": paused.pk,
        "ended": failed.pk,
        "member": member.pk,
        "node": member.node_id,
        "pool": node.node.pool_id,
        "spare": jobs.pool("spare").pk,
        "dedicated": dedicated.pk,
        "enrolment": enrolment.pk,
        "claim": Claim.objects.get(project=active).pk,
        "gpu_model": GpuModel.objects.get(name="h100").pk,
        "area": ResearchArea.objects.create(name="vision", title="Vision").pk,
    }
    holder, other = (node, other_node) if member.node_id == node.node.pk else (other_node, node)
    return World(cast, ids, {"node": holder.token, "other": other.token})
