"""What a project asks for: new totals of one GPU model during a window, with the files that speak for it."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from accounts.models import Person
from inventory.models import GpuModel
from kernel.unit import LockRank
from projects.models import Project
from quotas.states import OPEN, QUOTA_REQUEST, RequestState


class QuotaRequest(models.Model):
    """One request, from its draft on. Amounts are the totals that the project would hold, in whole GPUs.

    ``limit`` null: no limit. ``least``: the least guarantee that would still help; it decides nothing by itself.
    ``starts_at`` null: at once when granted. ``ends_at`` null: until the next review decides; with an end it is a
    temporary raise, which ends by itself. A draft may lack anything but its project.
    """

    lock_rank = LockRank.QUOTA
    machine = QUOTA_REQUEST
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="quota_requests")
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, null=True, related_name="+")
    guaranteed = models.BigIntegerField(null=True)
    limit = models.BigIntegerField(null=True)
    least = models.BigIntegerField(null=True)
    starts_at = models.DateTimeField(null=True)
    ends_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    state = models.CharField(max_length=20, choices=RequestState.choices, default=RequestState.DRAFT)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    submitted_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    submitted_at = models.DateTimeField(null=True)
    cloned_from = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="clones")
    is_raise = models.BooleanField(default=False)
    """Whether it asked for a larger guarantee than was held when it was submitted: it must never grant a smaller."""
    keeps_limit = models.BooleanField(default=False)
    """Whether it asked for no lower limit than was held when it was submitted: it must never grant a lower."""
    granted_guaranteed = models.BigIntegerField(null=True)
    granted_limit = models.BigIntegerField(null=True)
    granted_from = models.DateTimeField(null=True)
    granted_ends_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "gpu_model"], condition=Q(state__in=OPEN), name="quotarequest_open_once"
            ),
            models.CheckConstraint(
                name="quotarequest_stated",
                condition=Q(state__in=[RequestState.DRAFT, RequestState.WITHDRAWN])
                | Q(gpu_model__isnull=False, guaranteed__isnull=False),
            ),
            models.CheckConstraint(
                name="quotarequest_amounts",
                condition=(Q(guaranteed__isnull=True) | Q(guaranteed__gte=0))
                & (Q(limit__isnull=True) | Q(limit__gte=0))
                & (Q(least__isnull=True) | Q(least__gte=0)),
            ),
            models.CheckConstraint(
                name="quotarequest_granted",
                condition=Q(state=RequestState.APPROVED, granted_guaranteed__isnull=False, granted_from__isnull=False)
                | (~Q(state=RequestState.APPROVED) & Q(granted_guaranteed__isnull=True, granted_from__isnull=True)),
            ),
            models.CheckConstraint(
                name="quotarequest_window",
                condition=Q(starts_at__isnull=True) | Q(ends_at__isnull=True) | Q(ends_at__gt=F("starts_at")),
            ),
        ]
        indexes = [
            models.Index(fields=["project", "-id"], name="quotarequest_project"),
            models.Index(
                fields=["granted_ends_at"], name="quotarequest_ends", condition=Q(granted_ends_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """In a few words: ``16 × H100 for Vision``. A draft may not know yet."""
        if self.gpu_model is None or self.guaranteed is None:
            return _("Quota for %(project)s") % {"project": self.project.name}
        words = {"count": self.guaranteed, "model": self.gpu_model.title, "project": self.project.name}
        return _("%(count)s × %(model)s for %(project)s") % words

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def is_temporary(self) -> bool:
        return self.ends_at is not None


class WithoutContent(models.Manager["RequestAttachment"]):
    """Rows without their bytes: these are read only where somebody downloads them."""

    def get_queryset(self) -> models.QuerySet["RequestAttachment"]:
        return super().get_queryset().defer("content")


class RequestAttachment(models.Model):
    """A file that speaks for a request. Its type comes from its name and bytes, never from who sent it."""

    request = models.ForeignKey(QuotaRequest, on_delete=models.PROTECT, related_name="attachments")
    name = models.CharField(max_length=200)
    content_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    content = models.BinaryField()
    added_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField()

    objects = WithoutContent()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name
