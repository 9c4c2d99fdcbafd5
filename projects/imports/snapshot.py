"""What the registry holds, as far as a file speaks of it: read once for all rows, in a fixed number of statements."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Lower

from accounts.models import Person
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import local_day
from projects import policies
from projects.content import content_hashes
from projects.imports.values import Catalogue, words_of_choices
from projects.imports.writing import Cells, cells_of
from projects.models import ComputeRequest, Membership, Milestone, Project, ProjectRole, ResearchArea
from projects.services.drafts import Areas
from projects.states import ProjectState


@dataclass(frozen=True, slots=True)
class Known:
    """One project of the file that its owner may know of, with all that a row may change of it."""

    project: Project
    here: policies.Standing
    content: str
    compute: Sequence[ComputeRequest]
    milestones: Sequence[Milestone]
    leads: Sequence[str]
    """User names, the one of longest standing first."""

    @property
    def cells(self) -> Cells:
        return cells_of(self.project, self.compute, self.milestones, self.leads[0] if self.leads else "")


@dataclass(frozen=True, slots=True)
class Ground:
    """What every row is judged on."""

    owner: Person
    may_name_leads: bool
    today: date
    areas: Areas
    gpu_models: Sequence[GpuModel]
    catalogue: Catalogue
    known: Mapping[int, Known]


@dataclass(frozen=True, slots=True)
class Names:
    """Names as the database compares them, and people by user name in lower case."""

    lowered: Mapping[str, str]
    taken: Mapping[str, int]
    """Id of the open project that has a name, by the name in lower case."""
    people: Mapping[str, Person]


def ground_for(owner: Person, project_ids: Collection[int]) -> Ground:
    gpu_models, areas = list(GpuModel.objects.order_by("name")), list(ResearchArea.objects.order_by("name"))
    return Ground(
        owner,
        policies.may_name_leads(owner),
        local_day(clock.now()),
        {area.name: area for area in areas},
        gpu_models,
        Catalogue([model.name for model in gpu_models], areas, words_of_choices()),
        known_projects(owner, policies.visible_to(owner).filter(pk__in=project_ids)) if project_ids else {},
    )


def known_projects(owner: Person, wanted: Iterable[Project]) -> dict[int, Known]:
    projects = list(wanted)
    ids = [project.pk for project in projects]
    here, contents = policies.standings(owner, projects), content_hashes(projects)
    compute: defaultdict[int, list[ComputeRequest]] = defaultdict(list)
    for asked in ComputeRequest.objects.filter(project__in=ids).select_related("gpu_model").order_by("gpu_model__name"):
        compute[asked.project_id].append(asked)
    milestones: defaultdict[int, list[Milestone]] = defaultdict(list)
    for row in Milestone.objects.filter(project__in=ids).order_by("due_on", "id"):
        milestones[row.project_id].append(row)
    leads: defaultdict[int, list[str]] = defaultdict(list)
    team = Membership.objects.filter(project__in=ids, role=ProjectRole.LEAD, left_at__isnull=True)
    for pk, username in team.order_by("joined_at", "pk").values_list("project_id", "person__username"):
        leads[pk].append(username)
    return {
        row.pk: Known(row, here[row.pk], contents[row.pk], compute[row.pk], milestones[row.pk], leads[row.pk])
        for row in projects
    }


def editable_by(owner: Person) -> list[Known]:
    """The projects of which this person may change anything now, by name."""
    visible = policies.visible_to(owner).filter(state__in=policies.EDITABLE)
    found = known_projects(owner, visible.order_by(Lower("name"), "pk"))
    return [row for row in found.values() if _is_open(row)]


def _is_open(row: Known) -> bool:
    return row.here.may("edit") or (row.here.may("reclassify") and row.project.state in policies.APPROVED)


def names_for(names: Sequence[str], usernames: Collection[str]) -> Names:
    """Who has these names, and who these people are. Letters are lowered by the database, whose rule it is."""
    lowered = _lowered(names)
    is_open = ~Q(state__in=[ProjectState.REJECTED, ProjectState.CLOSED])
    holders = Project.objects.filter(is_open).annotate(key=Lower("name")).filter(key__in=set(lowered.values()))
    asked = {username.casefold() for username in usernames}
    people = Person.objects.annotate(key=Lower("username")).filter(key__in=asked)
    return Names(
        lowered,
        dict(holders.values_list("key", "pk")),
        {person.username.casefold(): person for person in people},
    )


def _lowered(names: Sequence[str]) -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, lower(name) FROM unnest(%s::text[]) AS name", [list(names)])
        return dict(cursor.fetchall())
