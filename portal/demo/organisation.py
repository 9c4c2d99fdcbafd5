"""The bulk of the demo organisation: a hundred people and nearly three hundred projects of the last half year.

The same every time: every choice comes from one seeded generator. They are written as closed records of the past,
dated when they would have happened; no service can act in the past. What people do from now on goes the usual way.
"""

from datetime import datetime, timedelta
from random import Random

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Permission
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from accounts.models import Person
from approvals.services import approval_submit
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import local_day
from kernel.models import StateChange
from kernel.subject import actor_fields, subject_fields
from kernel.unit import lock, unit_of_work
from portal.demo import names
from portal.demo.courses import Course, course
from portal.demo.fleet import MODELS
from portal.demo.milestones import milestones
from portal.demo.wishes import share
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
from projects.services.decisions import case_of
from projects.states import ProjectState as S

SEED = 20260101
MARK = "Simulated record of the demo organisation."
PEOPLE = 112
COUNTS = {S.ACTIVE: 239, S.DRAFT: 14, S.SUBMITTED: 10, S.REJECTED: 8, S.SUSPENDED: 8, S.CLOSED: 12}
"""Beside the project of ``lead`` and ``researcher``."""
_STAGES = {
    Stage.EXPLORATION: 26,
    Stage.FEASIBILITY: 20,
    Stage.TRAINING: 27,
    Stage.EVALUATION: 14,
    Stage.LAUNCH_PREPARATION: 8,
    Stage.PRODUCTION: 5,
}
_TIERS = {Tier.HIGH: 24, Tier.MID: 84, Tier.LOW: 192}
"""Of all projects; those that were never approved have none."""
_WEIGHTS = {
    Stage.TRAINING: {"h800": 46, "a800": 28, "h20": 22, "l40s": 4},
    Stage.EXPLORATION: {"h800": 22, "a800": 30, "h20": 20, "l40s": 28},
}
"""Which model projects ask for, by stage; the later stages as in exploration."""
Standing = dict[int, Tier]


def seed_organisation(people: dict[str, Person]) -> None:
    """People and projects, once, in one transaction."""
    random = Random(SEED)  # noqa: S311  a demo, not a secret
    with unit_of_work():
        staff = _people()
        courses = _courses(random)
        projects = _projects(random, people, staff, courses)
        tiers = _tiers(random, projects, courses, people["admin"])
        _parts(random, projects, courses, tiers)
        _memberships(random, projects, people, staff)
        _history(projects, courses, people)
    _ask(projects, courses)


def project_names() -> list[tuple[str, str]]:
    """Area and name of every project, each name once; the one that is shown first comes first."""
    found: list[tuple[str, str]] = []
    for area in names.AREAS:
        plain = [f"{topic} {thing}" for topic in names.TOPICS[area] for thing in names.OBJECTS[area]][:33]
        plain[5] += names.LONG[len(found) % len(names.LONG)]
        found += [(area, name) for name in (*names.CHINESE[area], *plain)]
    return [("language", names.SHOWCASE), *found[: sum(COUNTS.values())]]


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


def _courses(random: Random) -> list[tuple[S, Course]]:
    """State and past of each project, in the order of their names."""
    states = [state for state, count in COUNTS.items() for _ in range(count)]
    random.shuffle(states)
    states.insert(0, S.ACTIVE)
    now = clock.now()
    return [(state, course(random, state, states[:place].count(state), now)) for place, state in enumerate(states)]


def _projects(
    random: Random, people: dict[str, Person], staff: list[Person], courses: list[tuple[S, Course]]
) -> list[Project]:
    areas = {area.name: area for area in ResearchArea.objects.all()}
    stages, weights = list(_STAGES), list(_STAGES.values())
    rows = []
    for (area, name), (state, past) in zip(project_names(), courses, strict=True):
        is_shown = name == names.SHOWCASE
        lead = people["lead"] if is_shown else random.choice(staff)
        rows.append(
            Project(
                name=name,
                goal=names.SHOWCASE_GOAL if is_shown else names.GOAL.format(name=name),
                kind=random.choice((Kind.RESEARCH, Kind.RESEARCH, Kind.PRODUCT)),
                stage=Stage.TRAINING if is_shown else random.choices(stages, weights)[0],
                area=areas[area],
                data_class=random.choice((DataClass.INTERNAL, DataClass.INTERNAL, DataClass.OPEN)),
                breakthrough=9 if is_shown else random.randint(1, 10),
                state=state,
                created_by=lead,
                submitted_by=None if state == S.DRAFT else lead,
                created_at=past.created_at,
                updated_at=_changed_at(random, state, past),
            )
        )
    return Project.objects.bulk_create(rows)


def _changed_at(random: Random, state: S, past: Course) -> datetime:
    """People write about projects under way now and then; the others are as the last step left them."""
    if state != S.ACTIVE:
        return past.changed_at
    spent: float = random.uniform(0.01, 0.99) ** 0.5
    return past.changed_at + (clock.now() - past.changed_at) * spent


def _tiers(random: Random, projects: list[Project], courses: list[tuple[S, Course]], admin: Person) -> Standing:
    """Of each project that was approved."""
    tiers: Standing = {}
    rows = []
    dealt = [tier for tier, count in _TIERS.items() for _ in range(count)]
    random.shuffle(dealt)
    for project, (_state, past), tier in zip(projects, courses, dealt, strict=False):
        approved_at = past.at("approve")
        if approved_at is None:
            continue
        tiers[project.pk] = Tier.HIGH if project.name == names.SHOWCASE else tier
        during = DateTimeTZRange(approved_at + timedelta(hours=3), None)
        reason = "Review of the last quarter"
        rows.append(TierFact(project=project, tier=tiers[project.pk], during=during, reason=reason, set_by=admin))
    TierFact.objects.bulk_create(rows)
    return tiers


def _parts(random: Random, projects: list[Project], courses: list[tuple[S, Course]], tiers: Standing) -> None:
    models = {model.name: model for model in GpuModel.objects.filter(name__in=MODELS)}
    today = local_day(clock.now())
    compute: list[ComputeRequest] = []
    dates: list[Milestone] = []
    for project, (_state, past) in zip(projects, courses, strict=True):
        weights = _WEIGHTS.get(Stage(project.stage), _WEIGHTS[Stage.EXPLORATION])
        drawn = random.choices(list(weights), list(weights.values()))[0]
        model = models["h800" if project.name == names.SHOWCASE else drawn]
        compute.append(_request(project, model, tiers.get(project.pk, Tier.MID)))
        dates += milestones(random, project, local_day(past.at("approve") or past.created_at), today)
    ComputeRequest.objects.bulk_create(compute)
    Milestone.objects.bulk_create(dates)


def _request(project: Project, model: GpuModel, tier: Tier) -> ComputeRequest:
    """What it asked for when it registered, near to what it was given."""
    held = share(own_random(project.name), project.name, tier, Stage(project.stage))
    target = max(1, held.guaranteed, held.limit // 2)
    return ComputeRequest(
        project=project, gpu_model=model, min=max(1, target // 2), target=target, max=max(held.limit, 2 * target)
    )


def own_random(project: str) -> Random:
    """A generator of the project's own: what it draws does not hang on the other projects."""
    return Random(f"{SEED}/{project}")  # noqa: S311  a demo, not a secret


def _memberships(random: Random, projects: list[Project], people: dict[str, Person], staff: list[Person]) -> None:
    rights = {role: Permission.objects.get(codename=name) for role, name in PERMISSIONS.items()}
    rows, held = [], []
    for project in projects:
        others = [person for person in random.sample(staff, random.randint(2, 5)) if person != project.created_by][:4]
        if project.name == names.SHOWCASE:
            others.insert(0, people["researcher"])
        for place, person in enumerate((project.created_by, *others)):
            role = ProjectRole.RESEARCHER if place else ProjectRole.LEAD
            since = {"joined_at": project.created_at, "added_by": project.created_by}
            rows.append(Membership(project=project, person=person, role=role, **since))
            held.append(ProjectUserObjectPermission(permission=rights[role], user=person, content_object=project))
    Membership.objects.bulk_create(rows)
    ProjectUserObjectPermission.objects.bulk_create(held)


def _history(projects: list[Project], courses: list[tuple[S, Course]], people: dict[str, Person]) -> None:
    deciders = {"approve": people["director"], "reject": people["director"], "suspend": people["admin"]}
    rows = []
    for project, (_state, past) in zip(projects, courses, strict=True):
        state: str = S.DRAFT
        for event, at in past.steps:
            target = project.machine.target(state, event)
            rows.append(
                StateChange(
                    machine=project.machine.name,
                    event=event,
                    from_state=state,
                    to_state=target,
                    at=at,
                    reason=MARK,
                    **subject_fields(project),
                    **actor_fields(deciders.get(event, project.created_by)),
                )
            )
            state = target
    StateChange.objects.bulk_create(rows)


def _ask(projects: list[Project], courses: list[tuple[S, Course]]) -> None:
    """What was submitted waits for a decision since then."""
    for project, (state, past) in zip(projects, courses, strict=True):
        at = past.at("submit")
        if state != S.SUBMITTED or at is None or project.submitted_by is None:
            continue
        with clock.frozen(at), unit_of_work():
            locked = lock({Project: [project.pk]})
            approval_submit(actor=project.submitted_by, case=case_of(project), existing=None, locked=locked)
