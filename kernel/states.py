"""State machines: one table each, one function that changes a state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.utils.translation import gettext as _

from kernel import clock
from kernel.errors import IllegalTransition
from kernel.models import StateChange
from kernel.subject import Actor, actor_fields, subject_fields


@dataclass(frozen=True)
class Machine:
    """``table[(state, event)]`` is the state after the event. A pair that is not in it is refused."""

    name: str
    states: type[models.TextChoices]
    table: Mapping[tuple[str, str], str]

    def target(self, state: str, event: str) -> str:
        """Raises ``IllegalTransition`` naming state, event and what is possible instead."""
        try:
            return self.table[(state, event)]
        except KeyError:
            allowed = self.events(state)
            message = _("“%(event)s” is not possible while this is %(state)s.") % {
                "event": event.replace("_", " "),
                "state": self.states(state).label,
            }
            data = {"machine": self.name, "state": str(state), "event": event, "allowed": allowed}
            raise IllegalTransition(message, data=data) from None

    def events(self, state: str) -> list[str]:
        """What can happen in this state, sorted."""
        return sorted(event for (source, event) in self.table if source == state)

    def is_final(self, state: str) -> bool:
        return not self.events(state)


def transition(
    row: Any,
    event: str,
    *,
    actor: Actor,
    reason: str = "",
    data: Mapping[str, Any] | None = None,
    fields: Sequence[str] = (),
) -> StateChange:
    """Move ``row`` (locked by the caller) by ``event``: write ``state`` and the history row together.

    ``fields`` were set by the caller and belong to the new state (an end's cause and instant): they are written
    in the same statement. The only place that assigns ``state``. Raises ``IllegalTransition``.
    """
    source = row.state
    row.state = row.machine.target(source, event)
    row.save(update_fields=["state", *fields])
    return StateChange.objects.create(
        machine=row.machine.name,
        event=event,
        from_state=source,
        to_state=row.state,
        at=clock.now(),
        reason=reason,
        data=dict(data or {}),
        **subject_fields(row),
        **actor_fields(actor),
    )
