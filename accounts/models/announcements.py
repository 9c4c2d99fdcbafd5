"""Announcements: banners that everybody, or who holds a role, is shown."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models.people import Person, Role
from kernel.unit import LockRank


class AnnouncementKind(models.TextChoices):
    """Maintenance is a window in which something of the platform does not work; it always has an end."""

    ANNOUNCEMENT = "announcement", _("Announcement")
    MAINTENANCE = "maintenance", _("Maintenance window")


class AnnouncementLevel(models.TextChoices):
    INFO = "info", _("Information")
    WARNING = "warning", _("Warning")


class Announcement(models.Model):
    """What everybody, or who holds one of these roles, is told in a banner during ``[starts_at, ends_at)``.

    Never deleted: it ends by date, or it is withdrawn. ``revision`` is raised by each edit.
    """

    lock_rank = LockRank.ANNOUNCEMENT
    kind = models.CharField(max_length=20, choices=AnnouncementKind.choices)
    level = models.CharField(max_length=10, choices=AnnouncementLevel.choices, default=AnnouncementLevel.INFO)
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    audience = ArrayField(models.CharField(max_length=20, choices=Role.choices), default=list)
    """Organisation-wide roles; empty is everybody, who is not signed in included."""
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    revision = models.PositiveIntegerField(default=1)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(ends_at__gt=models.F("starts_at")), name="announcement_ends_later"),
            models.CheckConstraint(
                condition=~Q(kind=AnnouncementKind.MAINTENANCE) | Q(ends_at__isnull=False),
                name="announcement_maintenance_ends",
            ),
        ]
        indexes = [models.Index(fields=["-starts_at", "-id"], name="announcement_newest")]

    def __str__(self) -> str:
        return self.title

    @property
    def audience_words(self) -> list[str]:
        """The roles by name; none is everybody."""
        return [str(Role(role).label) for role in self.audience]
