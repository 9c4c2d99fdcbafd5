"""How an attempt member reaches its machines, by the launcher of the node's pool."""

from scheduling.launchers.push import push, push_soon

__all__ = ["push", "push_soon"]
