"""Who may use a dedicated pool, when."""

from datetime import datetime

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import Q

from accounts.models import Person
from inventory.models import Pool
from kernel.ranges import to_interval
from kernel.unit import LockRank
from projects.models import Project, ResearchArea


def _one_access_of(holder: str) -> ExclusionConstraint:
    """A project or area is given a pool once at an instant."""
    return ExclusionConstraint(
        name=f"poolaccess_one_of_{holder}",
        expressions=[
            ("pool", RangeOperators.EQUAL),
            (holder, RangeOperators.EQUAL),
            ("during", RangeOperators.OVERLAPS),
        ],
        condition=Q(voided_at__isnull=True),
    )


class PoolAccess(models.Model):
    """Who may use a dedicated pool, when: a project, or every project of a research area and the areas below it.

    Only the end is ever changed. A shared pool is for all and has no rows in force.
    """

    lock_rank = LockRank.QUOTA
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="access")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True, related_name="pool_access")
    area = models.ForeignKey(ResearchArea, on_delete=models.PROTECT, null=True, related_name="pool_access")
    during = DateTimeRangeField()
    reason = models.TextField(blank=True)
    granted_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField()
    voided_at = models.DateTimeField(null=True)
    """Set when one that has not begun is taken back."""
    ended_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)
    end_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="poolaccess_one_holder",
                condition=Q(project__isnull=False, area__isnull=True) | Q(project__isnull=True, area__isnull=False),
            ),
            *(_one_access_of(holder) for holder in ("project", "area")),
        ]

    @property
    def holder(self) -> Project | ResearchArea | None:
        """Who may use the pool by this row."""
        return self.project or self.area

    @property
    def effective_from(self) -> datetime:
        return to_interval(self.during).start

    @property
    def effective_to(self) -> datetime | None:
        return to_interval(self.during).end
