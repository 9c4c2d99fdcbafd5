"""``manage.py state_diagrams``: draw every state machine from its table into docs/states.md."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from kernel.states import Machine

HEAD = """# States

Drawn from the tables in every room's `states.py` by `./run manage state_diagrams`; a test compares. Nothing but
`kernel.states.transition` changes a state, and every step is kept with who made it and why.
"""


class Command(BaseCommand):
    help = "Draw every state machine into docs/states.md; with --check only say whether it is current."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing, fail if the file is not current")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(settings.BASE_DIR) / "docs" / "states.md"
        text = document()
        if not options["check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            raise CommandError(f"{path} is not current: run manage.py state_diagrams")


def document() -> str:
    """The whole file."""
    return "\n".join([HEAD, *(_section(machine) for machine in machines())])


def machines() -> list[Machine]:
    """Every machine that a model names, once, by name."""
    found = {
        m.name: m for m in (getattr(model, "machine", None) for model in apps.get_models()) if isinstance(m, Machine)
    }
    return [found[name] for name in sorted(found)]


def _section(machine: Machine) -> str:
    title = machine.name.replace("_", " ").capitalize()
    return "\n".join([f"## {title}", "", "```mermaid", "stateDiagram-v2", *_steps(machine), "```", ""])


def _steps(machine: Machine) -> Iterator[str]:
    order = {str(state): place for place, state in enumerate(machine.states.values)}
    events: dict[tuple[str, str], list[str]] = {}
    for (source, event), target in machine.table.items():
        events.setdefault((str(source), str(target)), []).append(event)
    for source, target in sorted(events, key=lambda pair: (order[pair[0]], order[pair[1]])):
        yield f"    {source} --> {target}: {', '.join(sorted(events[(source, target)]))}"
    for state in machine.states.values:
        if machine.is_final(state) and any(target == state for target in machine.table.values()):
            yield f"    {state} --> [*]"
