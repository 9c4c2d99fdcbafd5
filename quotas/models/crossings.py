"""How near a project's use came to its limit, as long as it stays there."""

from django.db import models

from inventory.models import GpuModel
from projects.models import Project


class LimitCrossing(models.Model):
    """A project's use of a GPU model reached ``level`` per cent of its limit ``since`` then. ``below_since``: since
    when it is below again. The row goes when it has stayed there for a while; the next crossing is another row."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="limit_crossings")
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, related_name="+")
    level = models.PositiveSmallIntegerField()
    since = models.DateTimeField()
    below_since = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "gpu_model", "level"], name="limitcrossing_once"),
        ]
