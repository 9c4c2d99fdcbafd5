"""Projects in every state, made through the services, for the tests of this room and of those above."""

from datetime import date, timedelta
from itertools import count

from accounts.models import Person
from accounts.tests import factories as people
from inventory.models import GpuModel
from kernel import clock
from projects import services
from projects.facts import ComputeAsked, Facts, MilestoneAsked
from projects.models import Project, ProjectRole, Tier
from projects.services import members

_numbers = count(1)


def admin() -> Person:
    """The one admin of the tests, who approves, suspends and sets tiers."""
    found = Person.objects.filter(username="registry-admin").first()
    return found or people.admin("registry-admin")


def gpu_model(name: str = "h100") -> GpuModel:
    return GpuModel.objects.get_or_create(name=name, defaults={"title": name.upper()})[0]


def full_facts(**changes: object) -> Facts:
    """Everything that a submission needs, on one GPU model that is in the catalogue."""
    facts: Facts = {
        "name": f"Project {next(_numbers)}",
        "goal": "Find out whether it works",
        "stage": "exploration",
        "expected_compute": [ComputeAsked(gpu_model().name, 1, 2, 4)],
        "milestones": [MilestoneAsked("First result", date(2030, 1, 31))],
        "breakthrough": 5,
    }
    return {**facts, **changes}  # type: ignore[typeddict-item]


def draft_project(*, lead: Person | None = None, **changes: object) -> Project:
    return services.project_create(actor=lead or people.person(), facts=full_facts(**changes))


def submitted_project(*, lead: Person | None = None, **changes: object) -> Project:
    leader = lead or people.person()
    project = draft_project(lead=leader, **changes)
    return services.project_submit(actor=leader, project_id=project.pk)


def active_project(
    *, lead: Person | None = None, researchers: tuple[Person, ...] = (), tier: Tier | None = None, **changes: object
) -> Project:
    """An approved project; ``changes`` are stated facts such as ``name``, ``stage``, ``kind``."""
    leader = lead or people.person()
    project = submitted_project(lead=leader, **changes)
    for someone in researchers:
        services.member_add(
            actor=leader, project_id=project.pk, person=str(someone.username), role=ProjectRole.RESEARCHER
        )
    project = services.project_decide(answer="approve", actor=admin(), project_id=project.pk)
    if tier is not None:
        services.tier_set(actor=admin(), project_id=project.pk, tier=tier, reason="Set by a test")
    return project


def suspended_project(*, lead: Person | None = None, **changes: object) -> Project:
    project = active_project(lead=lead, **changes)  # type: ignore[arg-type]
    return services.project_suspend(actor=admin(), project_id=project.pk, reason="Set by a test")


def closed_project(*, lead: Person | None = None, **changes: object) -> Project:
    project = active_project(lead=lead, **changes)  # type: ignore[arg-type]
    return services.project_close(actor=admin(), project_id=project.pk, reason="Set by a test")


def rejected_project(*, lead: Person | None = None, **changes: object) -> Project:
    project = submitted_project(lead=lead, **changes)
    return services.project_decide(answer="reject", actor=admin(), project_id=project.pk, reason="Set by a test")


def days_from_now(days: int) -> date:
    return (clock.now() + timedelta(days=days)).date()


def enrol(project: Project, someone: Person, role: ProjectRole = ProjectRole.RESEARCHER) -> None:
    """Put somebody on a team whatever the project's state: as if before it ended."""
    members.join(project, someone, role, by=project.created_by)
