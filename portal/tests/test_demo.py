"""The demo organisation: made once, by real acts, and leaving room."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.models import F

from accounts.models import Person, Role
from accounts.policies import organisation_roles
from approvals.models import Approval
from approvals.states import OPEN
from inventory.models import GpuModel
from inventory.selectors import capacity_at
from inventory.tests import factories as nodes
from kernel import clock
from kernel.models import AuditEntry, StateChange
from portal.demo.names import SHOWCASE
from portal.supervisor.services import AGENTS
from portal.tests.demo_fleet import seed_with_fleet, story
from projects import policies, services
from projects.models import Project
from projects.states import ProjectState
from quotas.models import Claim, QuotaRequest
from quotas.selectors import promised_at
from quotas.states import RequestState

pytestmark = pytest.mark.django_db

TOUR = 2
"""GPUs of a model that the tour of the README has an admin grant."""
ACCOUNTS = ("admin", "director", "lead", "researcher", "auditor", "stranger")


def seed(monkeypatch: pytest.MonkeyPatch, password: str = "demo") -> None:
    monkeypatch.setenv("SLUICE_DEMO_PASSWORD", password)
    call_command("seed_demo")


def test_the_accounts_can_sign_in_and_hold_their_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    seed(monkeypatch)
    people = {name: Person.objects.get(username=name) for name in ACCOUNTS}
    assert all(person.check_password("demo") for person in people.values())
    held = {name: set(organisation_roles(person)) for name, person in people.items()}
    roles = {"admin": {Role.ADMIN}, "director": {Role.DIRECTOR}, "auditor": {Role.AUDITOR}}
    assert held == {name: roles.get(name, set()) for name in ACCOUNTS}
    seed(monkeypatch, "another")
    assert Person.objects.get(username="lead").check_password("another")
    assert not Person.objects.get(username="chen").has_usable_password()


def test_projects_in_every_state_and_two_that_lead_and_researcher_share(monkeypatch: pytest.MonkeyPatch) -> None:
    seed(monkeypatch)
    assert set(Project.objects.values_list("state", flat=True)) == set(ProjectState.values)
    lead, researcher, stranger = (Person.objects.get(username=n) for n in ("lead", "researcher", "stranger"))
    shared = policies.visible_to(lead).filter(pk__in=policies.visible_to(researcher), state="active")
    assert set(shared.values_list("name", flat=True)) == {"Long-context pretraining", SHOWCASE}
    for project in shared:
        assert (policies.role_on(lead, project), policies.role_on(researcher, project)) == ("lead", "researcher")
    assert not policies.visible_to(stranger).exists()
    decided = StateChange.objects.filter(event__in=["approve", "reject"], subject_type="projects.project")
    assert decided.exists()
    assert {step.actor_name for step in decided} == {"Dana Director"}


def test_quota_requests_in_every_state_and_some_that_are_overdue(tmp_path: Path) -> None:
    seed_with_fleet(tmp_path / "fleet.json")
    assert set(QuotaRequest.objects.values_list("state", flat=True)) == set(RequestState.values)
    open_rows = Approval.objects.filter(kind="quota_request", state__in=OPEN)
    assert open_rows.filter(due_at__lt=clock.now()).exists()
    assert Approval.objects.filter(is_automatic=True).count() == 2
    less = QuotaRequest.objects.exclude(granted_guaranteed=None).exclude(granted_guaranteed=F("guaranteed"))
    assert less.count() == 1
    requests = QuotaRequest.objects.count()
    call_command("seed_demo")
    assert QuotaRequest.objects.count() == requests


def test_run_again_it_undoes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seed(monkeypatch)
    director = Person.objects.get(username="director")
    waiting = Project.objects.get(name="Diffusion video compression")
    services.project_decide(answer="approve", actor=director, project_id=waiting.pk)
    renamed = Project.objects.get(name="Sparse attention kernels")
    changes = {"name": "Renamed"}
    services.project_edit(actor=renamed.created_by, project_id=renamed.pk, changes=changes)  # type: ignore[arg-type]
    acts = AuditEntry.objects.count()
    seed(monkeypatch)
    waiting.refresh_from_db()
    assert waiting.state == "active"
    assert Project.objects.count() == 300
    assert AuditEntry.objects.count() == acts


def test_quota_is_granted_when_the_nodes_are_there_and_leaves_room(monkeypatch: pytest.MonkeyPatch) -> None:
    seed(monkeypatch)
    assert not Claim.objects.filter(resource="gpu").exists()
    admin = Person.objects.get(username="admin")
    for model in ("h100", "a100"):
        simulated = {entry.simulate.partition(":")[0]: int(entry.simulate.partition(":")[2]) for entry in AGENTS}
        node, _answer = nodes.enrolled(admin, f"demo-{model}", gpus=simulated[model], model=model)
        assert node.pool.name == "shared"
    seed(monkeypatch)
    granted = Claim.objects.filter(resource="gpu").count()
    now = clock.now()
    for row in GpuModel.objects.filter(name__in=["h100", "a100"]):
        usable, promised = capacity_at(now)[row.pk].usable, promised_at(now)[row.pk]
        assert 0 < promised <= 0.9 * usable
        assert usable - promised >= TOUR
    seed(monkeypatch)
    assert Claim.objects.filter(resource="gpu").count() == granted == 3


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_two_seeds_tell_the_same_story(tmp_path: Path, freeze: Callable[[datetime], None]) -> None:
    freeze(datetime(2026, 6, 1, 9, tzinfo=UTC))
    told = []
    for name in ("first", "second"):
        with transaction.atomic():
            seed_with_fleet(tmp_path / name)
            told.append(story())
            transaction.set_rollback(True)
    assert told[0]["jobs"]
    assert told[0] == told[1]
