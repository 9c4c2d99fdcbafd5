"""Reports of off-boardings."""

from typing import Any

from django.db import models
from django.db.models import Q

from accounts.models.people import Person


class Offboarding(models.Model):
    """The report of the one act that ended what a person could do. Insert-only: the database refuses anything else.

    ``lines``: each with ``room``, ``what`` (a word of that room's step), ``count`` and ``items``, every one with
    ``name``, ``kind``, ``pk`` and ``note``, as things were called then.
    """

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="offboardings")
    by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    reason = models.TextField()
    lines: Any = models.JSONField(default=list)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="offboarding_reason")]
