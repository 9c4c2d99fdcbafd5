"""An admin changes the scheduler's policy."""

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import require_role
from kernel import audit, clock
from kernel.errors import Conflict, Invalid
from kernel.unit import unit_of_work
from scheduling import wake
from scheduling.models import SchedulingPolicy
from scheduling.policy import BOUNDS, Choices, policy_now


def policy_set(*, actor: Person, choices: Choices, seen_version: int, reason: str = "") -> SchedulingPolicy:
    """Put these choices in force for all decisions from now on, and wake the scheduler.

    Raises ``Forbidden``, ``Invalid`` naming each choice out of bounds, and ``Conflict`` where somebody else changed
    the policy since ``seen_version``.
    """
    require_role(actor, Role.ADMIN)
    _require_in_bounds(choices)
    with unit_of_work():
        before = policy_now()
        if before.version != seen_version:
            raise _too_late(before.version)
        try:
            with transaction.atomic():
                row = SchedulingPolicy.objects.create(
                    version=seen_version + 1,
                    values=choices.plain(),
                    reason=reason,
                    set_by=actor,
                    set_at=clock.now(),
                )
        except IntegrityError as error:
            raise _too_late(seen_version + 1) from error
        was, now = before.choices.plain(), choices.plain()
        changed = [name for name in now if now[name] != was[name]]
        audit.record(
            "scheduling.policy_set",
            actor=actor,
            subject=row,
            before={name: was[name] for name in changed},
            after={**{name: now[name] for name in changed}, "reason": reason},
        )
        wake.wake_scheduler()
    return row


def _too_late(version: int) -> Conflict:
    text = _("Somebody else has changed the policy meanwhile. Look at it again, then change it.")
    return Conflict(text, data={"version": version})


def _require_in_bounds(choices: Choices) -> None:
    faults = {}
    for name, value in choices.plain().items():
        least, most = BOUNDS[name]
        if not least <= value <= most:
            text = _("%(value)s is not between %(least)s and %(most)s.")
            faults[name] = text % {"value": value, "least": least, "most": most}
    if faults:
        raise Invalid(faults)
