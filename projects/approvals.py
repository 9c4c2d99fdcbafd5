"""What every decision about a project has in common: who is on its side, who may know of it, who hears of it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from approvals.kinds import Kind
from approvals.models import Approval
from projects.models import Membership, Project, ProjectRole
from projects.policies import visible_to


class ProjectSubject(Kind):
    """A kind whose approvals each belong to one project."""

    def visible_projects(self, person: object) -> QuerySet[Any, int]:
        return visible_to(person).values_list("pk", flat=True)

    def on_its_side(self, project_ids: Collection[int]) -> Mapping[int, frozenset[int]]:
        """Members now or ever, who created it and who submitted it, as ``Standing.is_own`` says it of one person.

        One statement. Raises ``LookupError`` for a project that is not there: then nothing is decided.
        """
        ids = set(project_ids)
        side: defaultdict[int, set[int | None]] = defaultdict(set)
        people = ("created_by_id", "submitted_by_id", "memberships__person_id")
        for project, *some in Project.objects.filter(pk__in=ids).values_list("pk", *people):
            side[project].update(some)
        if missing := ids - side.keys():
            raise LookupError(f"no project {min(missing)}")
        return {pk: frozenset(person for person in some if person is not None) for pk, some in side.items()}

    def told(self, approval: Approval) -> Iterable[int]:
        """The project's leads."""
        return leads_of([approval.project_id] if approval.project_id else [])[approval.project_id or 0]


def leads_of(project_ids: Collection[int]) -> defaultdict[int, set[int]]:
    """The people who lead these projects now, by project. One statement."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    rows = Membership.objects.filter(project__in=project_ids, role=ProjectRole.LEAD, left_at__isnull=True)
    for project, person in rows.values_list("project_id", "person_id"):
        found[project].add(person)
    return found
