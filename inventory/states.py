"""States of a node (INV5)."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from kernel.states import Machine


class NodeState(models.TextChoices):
    UP = "up", _("up")
    DRAINING = "draining", _("draining")
    DOWN = "down", _("down")
    SUSPECT = "suspect", _("suspect")
    MAINTENANCE = "maintenance", _("maintenance")
    REMOVED = "removed", _("removed")


S = NodeState
NODE = Machine(
    "node",
    NodeState,
    {
        (S.UP, "drain"): S.DRAINING,
        (S.SUSPECT, "drain"): S.DRAINING,
        (S.DOWN, "drain"): S.DRAINING,
        (S.DRAINING, "undrain"): S.UP,
        (S.UP, "suspect"): S.SUSPECT,
        (S.SUSPECT, "clear"): S.UP,
        (S.UP, "lose"): S.DOWN,
        (S.SUSPECT, "lose"): S.DOWN,
        (S.DOWN, "return"): S.UP,
        (S.DRAINING, "maintain"): S.MAINTENANCE,
        (S.MAINTENANCE, "undrain"): S.UP,
        (S.DRAINING, "remove"): S.REMOVED,
        (S.MAINTENANCE, "remove"): S.REMOVED,
        (S.DOWN, "remove"): S.REMOVED,
        (S.REMOVED, "enrol"): S.UP,
    },
)
