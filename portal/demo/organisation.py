"""The bulk of the demo organisation: a hundred people and nearly three hundred projects of the last half year.

The same every time: every choice comes from one seeded generator. They are written as closed records of the past,
dated when they would have happened; no service can act in the past. What people do from now on goes the usual way.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from random import Random

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Permission
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from accounts.models import Person
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import local_day
from kernel.models import StateChange
from kernel.subject import actor_fields, subject_fields
from kernel.unit import unit_of_work
from portal.demo import names
from portal.demo.fleet import MODELS
from projects.models import (
    ComputeRequest,
    DataClass,
    Kind,
    Membership,
    Milestone,
    Project,
    ProjectRole,
    ProjectUserObjectPermission,
    ResearchArea,
    Stage,
    Tier,
    TierFact,
)
from projects.policies import PERMISSIONS
from projects.states import ProjectState as S

SEED = 20260101
MARK = "Simulated record of the demo organisation."
PEOPLE = 112
HALF_YEAR = timedelta(days=182)
COUNTS = {S.ACTIVE: 240, S.DRAFT: 14, S.SUBMITTED: 10, S.REJECTED: 8, S.SUSPENDED: 8, S.CLOSED: 12}
_WAY = {
    S.DRAFT: (),
    S.SUBMITTED: ("submit",),
    S.REJECTED: ("submit", "reject"),
    S.ACTIVE: ("submit", "approve"),
    S.SUSPENDED: ("submit", "approve", "suspend"),
    S.CLOSED: ("submit", "approve", "close"),
}
_TIERS = (Tier.HIGH, Tier.MID, Tier.MID, Tier.LOW, Tier.LOW)
_STAGES = tuple(Stage)
_TARGETS = (1, 2, 2, 4, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Team:
    """Who is on a project; the first leads."""

    people: tuple[Person, ...]
    since: datetime


def seed_organisation(people: dict[str, Person]) -> None:
    """People and projects, once, in one transaction."""
    random = Random(SEED)  # noqa: S311  a demo, not a secret
    with unit_of_work():
        staff = _people()
        projects = _projects(random, staff)
        _parts(random, projects)
        teams = {project.pk: _team(random, project, staff) for project in projects}
        _memberships(teams, projects)
        _history(projects, people)
        _tiers(random, projects, people["admin"])


def project_names() -> list[tuple[str, str]]:
    """Area and name of every project, each name once."""
    found: list[tuple[str, str]] = []
    for area in names.AREAS:
        plain = [f"{topic} {thing}" for topic in names.TOPICS[area] for thing in names.OBJECTS[area]][:33]
        plain[5] += names.LONG[len(found) % len(names.LONG)]
        found += [(area, name) for name in (*names.CHINESE[area], *plain)]
    return found[: sum(COUNTS.values())]


def _people() -> list[Person]:
    accounts = dict(names.CHINESE_PEOPLE)
    for number in range(PEOPLE - len(accounts)):
        given = names.GIVEN[number % len(names.GIVEN)]
        family = names.FAMILY[(number + number // len(names.GIVEN) * 7) % len(names.FAMILY)]
        accounts[f"{given}.{family}".lower()] = f"{given} {family}"
    Person.objects.bulk_create(
        [
            Person(username=username, display_name=name, password=make_password(None))
            for username, name in accounts.items()
        ],
        ignore_conflicts=True,
    )
    return list(Person.objects.filter(username__in=accounts).order_by("username"))


def _projects(random: Random, staff: list[Person]) -> list[Project]:
    areas = {area.name: area for area in ResearchArea.objects.all()}
    states = [state for state, count in COUNTS.items() for _ in range(count)]
    random.shuffle(states)
    now = clock.now()
    rows = []
    for (area, name), state in zip(project_names(), states, strict=True):
        lead = random.choice(staff)
        began = now - timedelta(days=random.randint(20, HALF_YEAR.days), hours=random.randint(0, 9))
        rows.append(
            Project(
                name=name,
                goal=names.GOAL.format(name=name),
                kind=random.choice((Kind.RESEARCH, Kind.RESEARCH, Kind.PRODUCT)),
                stage=random.choice(_STAGES),
                area=areas[area],
                data_class=random.choice((DataClass.INTERNAL, DataClass.INTERNAL, DataClass.OPEN)),
                breakthrough=random.randint(1, 10),
                state=state,
                created_by=lead,
                submitted_by=None if state == S.DRAFT else lead,
                created_at=began,
                updated_at=began + timedelta(days=3),
            )
        )
    return Project.objects.bulk_create(rows)


def _parts(random: Random, projects: list[Project]) -> None:
    models = {model.name: model for model in GpuModel.objects.filter(name__in=MODELS)}
    weights = [facts.nodes for facts in MODELS.values()]
    compute, milestones = [], []
    today = local_day(clock.now())
    for project in projects:
        model = models[random.choices(list(MODELS), weights)[0]]
        target = random.choice(_TARGETS)
        compute.append(
            ComputeRequest(project=project, gpu_model=model, min=max(1, target // 2), target=target, max=2 * target)
        )
        milestones += _milestones(random, project, today)
    ComputeRequest.objects.bulk_create(compute)
    Milestone.objects.bulk_create(milestones)


def _milestones(random: Random, project: Project, today: date) -> list[Milestone]:
    """Some met, some late, some to come; those of the past are mostly met."""
    due_on = local_day(project.created_at) + timedelta(days=random.randint(15, 40))
    rows = []
    for name in names.MILESTONES[: random.randint(2, 5)]:
        met_on = None
        if due_on < today and random.random() < 0.8:
            met_on = min(today, due_on + timedelta(days=random.randint(-9, 6)))
        rows.append(Milestone(project=project, name=name, due_on=due_on, met_on=met_on))
        due_on += timedelta(days=random.randint(25, 60))
    return rows


def _team(random: Random, project: Project, staff: list[Person]) -> Team:
    others = [person for person in random.sample(staff, random.randint(2, 5)) if person != project.created_by]
    return Team((project.created_by, *others[:4]), project.created_at)


def _memberships(teams: dict[int, Team], projects: list[Project]) -> None:
    rights = {role: Permission.objects.get(codename=name) for role, name in PERMISSIONS.items()}
    rows, held = [], []
    for project in projects:
        team = teams[project.pk]
        for place, person in enumerate(team.people):
            role = ProjectRole.RESEARCHER if place else ProjectRole.LEAD
            rows.append(
                Membership(project=project, person=person, role=role, joined_at=team.since, added_by=project.created_by)
            )
            held.append(ProjectUserObjectPermission(permission=rights[role], user=person, content_object=project))
    Membership.objects.bulk_create(rows)
    ProjectUserObjectPermission.objects.bulk_create(held)


def _history(projects: list[Project], people: dict[str, Person]) -> None:
    deciders = {"approve": people["director"], "reject": people["director"], "suspend": people["admin"]}
    rows = []
    for project in projects:
        state: str = S.DRAFT
        for step, event in enumerate(_WAY[S(project.state)], start=1):
            target = project.machine.target(state, event)
            rows.append(
                StateChange(
                    machine=project.machine.name,
                    event=event,
                    from_state=state,
                    to_state=target,
                    at=project.created_at + timedelta(days=step),
                    reason=MARK,
                    **subject_fields(project),
                    **actor_fields(deciders.get(event, project.created_by)),
                )
            )
            state = target
    StateChange.objects.bulk_create(rows)


def _tiers(random: Random, projects: list[Project], admin: Person) -> None:
    TierFact.objects.bulk_create(
        TierFact(
            project=project,
            tier=random.choice(_TIERS),
            during=DateTimeTZRange(project.created_at + timedelta(days=3), None),
            reason="Review of the last quarter",
            set_by=admin,
        )
        for project in projects
        if project.state in (S.ACTIVE, S.SUSPENDED, S.CLOSED)
    )
