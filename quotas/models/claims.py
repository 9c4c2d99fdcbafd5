"""Claims: who holds which part of the capacity, when. Rows are never rewritten, only ended or voided."""

from datetime import datetime

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.contrib.postgres.indexes import GistIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext as _n

from accounts.models import Person
from inventory.models import GpuModel, Pool
from kernel.formats import byte_size, number
from kernel.ranges import to_interval
from kernel.unit import LockRank
from projects.models import Project, ResearchArea


class Resource(models.TextChoices):
    """Units: whole GPUs, cores, bytes of memory, bytes of storage."""

    GPU = "gpu", _("GPU")
    CPU = "cpu", _("CPU")
    MEMORY = "memory", _("Memory")
    STORAGE = "storage", _("Storage")


class ClaimKind(models.TextChoices):
    """Base claims replace each other; the others come on top of the base."""

    BASE = "base", _("Base")
    TEMPORARY = "temporary", _("Temporary")
    LENT = "lent", _("Lent")
    EMERGENCY = "emergency", _("Emergency")
    RESERVED = "reserved", _("Reserved")


def _one_base_of(holder: str) -> ExclusionConstraint:
    """A holder has at most one base claim of a resource and model at an instant; the others come on top."""
    return ExclusionConstraint(
        name=f"claim_one_base_of_{holder}",
        expressions=[
            (holder, RangeOperators.EQUAL),
            ("resource", RangeOperators.EQUAL),
            (Coalesce("gpu_model", 0), RangeOperators.EQUAL),
            ("during", RangeOperators.OVERLAPS),
        ],
        condition=Q(kind="base", voided_at__isnull=True),
    )


class Claim(models.Model):
    """A holder's guarantee and limit of one resource during an interval.

    Holder is exactly one of project, research area, pool, reservation. An area's claim is what the area is
    promised on top of its projects' own; a pool's claim is what a dedicated pool holds for its purpose.
    ``limit`` null: no limit. A temporary claim lifts guarantee and limit each by what is missing to the totals that
    were asked for, so that its limit may be less than its guarantee; ``selectors`` sum them up. At every instant the
    guarantees on a GPU model sum to at most capacity − reserve; emergency claims count against the reserve instead.
    The database refuses anything else at commit.
    """

    lock_rank = LockRank.QUOTA
    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True, related_name="claims")
    area = models.ForeignKey(ResearchArea, on_delete=models.PROTECT, null=True, related_name="claims")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, null=True, related_name="claims")
    reservation = models.BigIntegerField(null=True)
    resource = models.CharField(max_length=10, choices=Resource.choices)
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, null=True, related_name="claims")
    kind = models.CharField(max_length=12, choices=ClaimKind.choices, default=ClaimKind.BASE)
    guaranteed = models.BigIntegerField()
    limit = models.BigIntegerField(null=True)
    during = DateTimeRangeField()
    source = models.CharField(max_length=60, default="grant")
    """What made it: grant or request, and later review round, reservation."""
    request = models.ForeignKey("quotas.QuotaRequest", on_delete=models.PROTECT, null=True, related_name="claims")
    """The request that was granted, for a claim that one made."""
    reason = models.TextField(blank=True)
    granted_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    granted_at = models.DateTimeField()
    voided_at = models.DateTimeField(null=True)
    """Set when a future claim is superseded before it ever took effect."""
    continues = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="continued_by")
    """The claim whose later part this row carries on, after a grant for a limited time came between."""
    ended_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)
    """When somebody ended, shortened or voided it; ``during`` says since when it is over."""
    end_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="claim_one_holder",
                condition=(
                    Q(project__isnull=False, area__isnull=True, pool__isnull=True, reservation__isnull=True)
                    | Q(project__isnull=True, area__isnull=False, pool__isnull=True, reservation__isnull=True)
                    | Q(project__isnull=True, area__isnull=True, pool__isnull=False, reservation__isnull=True)
                    | Q(project__isnull=True, area__isnull=True, pool__isnull=True, reservation__isnull=False)
                ),
            ),
            models.CheckConstraint(
                name="claim_gpu_model_iff_gpu",
                condition=(Q(resource="gpu") & Q(gpu_model__isnull=False))
                | (~Q(resource="gpu") & Q(gpu_model__isnull=True)),
            ),
            models.CheckConstraint(
                name="claim_amounts",
                condition=Q(guaranteed__gte=0)
                & (Q(limit__isnull=True) | Q(limit__gte=F("guaranteed")) | Q(kind="temporary", limit__gte=0)),
            ),
            *(_one_base_of(holder) for holder in ("project", "area", "pool")),
        ]
        indexes = [
            models.Index(fields=["gpu_model", "project"], name="claim_model_project"),
            models.Index(fields=["project", "resource"], name="claim_project_resource"),
            GistIndex(fields=["gpu_model", "during"], name="claim_model_during", condition=Q(voided_at__isnull=True)),
        ]

    @property
    def holder(self) -> Project | ResearchArea | Pool | None:
        """Whose claim it is; None for a reservation's."""
        return self.project or self.area or self.pool

    @property
    def effective_from(self) -> datetime:
        return to_interval(self.during).start

    @property
    def effective_to(self) -> datetime | None:
        return to_interval(self.during).end

    def amount(self, value: int) -> str:
        """An amount in the words of this resource: ``4 × H100``, ``16 cores``, ``2 TiB``."""
        if self.gpu_model is not None:
            return f"{number(value)} × {self.gpu_model.title}"
        if self.resource == Resource.CPU:
            return _n("%(count)s core", "%(count)s cores", value) % {"count": number(value)}
        return byte_size(value)
