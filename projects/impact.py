"""What stopping a project would hurt. Rooms above know; they register what they have to say."""

from collections.abc import Callable

from projects.models import Project

Describer = Callable[[Project], list[str]]
_describers: list[Describer] = []


def describe_stopping(describer: Describer) -> Describer:
    """Register, in ``AppConfig.ready``, a function that gives lines such as "3 running jobs on 12 GPUs"."""
    _describers.append(describer)
    return describer


def of_stopping(project: Project) -> list[str]:
    """Lines for the question that is asked before a project is suspended or closed."""
    return [line for describer in _describers for line in describer(project)]
