"""What the composed pages keep: saved views of the table of projects, and bulk changes while they can be undone."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from accounts.models import Person


class SavedView(models.Model):
    """A named address of the table of projects: filters, words, columns and order. Never the rows themselves."""

    owner = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="saved_views")
    name = models.CharField(max_length=80)
    query = models.TextField(blank=True)
    """In the canonical form of ``portal.pages.table.address``; empty is the table as everybody first sees it."""
    is_shared = models.BooleanField(default=False)
    """Seen by everybody signed in. The rows remain those that each of them may know of."""
    position = models.PositiveIntegerField(default=0)
    """Among the owner's own, from the left."""
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)
    """Kept for a day after it was deleted, so that this can be undone."""

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                "owner",
                Lower("name"),
                name="savedview_name_once",
                condition=Q(deleted_at__isnull=True),
                violation_error_message=_("You have a view of this name already."),
            ),
            models.CheckConstraint(condition=~Q(name=""), name="savedview_named"),
        ]

    def __str__(self) -> str:
        return self.name


class DefaultView(models.Model):
    """With which view the table opens for a person; a shared one of somebody else may be chosen."""

    person = models.OneToOneField(Person, on_delete=models.PROTECT, related_name="default_view")
    view = models.ForeignKey(SavedView, on_delete=models.CASCADE, related_name="default_of")


class BulkChange(models.Model):
    """One change of many projects, with what undoes it. The history of each project is kept elsewhere, for good."""

    by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    field = models.CharField(max_length=20)
    at = models.DateTimeField()
    rows = models.JSONField()
    """Per project: its id, the value before, and its content as it was left; undoing holds for that content alone."""
    undone_at = models.DateTimeField(null=True)
