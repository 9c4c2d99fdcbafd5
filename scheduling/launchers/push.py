"""After the commit: wake the nodes of some members, each by its launcher. A failure is logged; sync heals it."""

from collections import defaultdict
from collections.abc import Iterable
from functools import partial

import structlog
from django.db import transaction
from kombu.exceptions import OperationalError

from scheduling.launchers.agent import AgentLauncher
from scheduling.launchers.base import Launcher, Wake
from scheduling.launchers.patient import PatientLauncher
from scheduling.models import AttemptMember

LAUNCHERS: dict[str, Launcher] = {"agent": AgentLauncher(), "patient": PatientLauncher()}

_log = structlog.get_logger(__name__)


def push_soon(launcher: str, *members: AttemptMember) -> None:
    """Wake the members' nodes once the caller's transaction has committed."""
    wakes = [(launcher, Wake(member.node_id, member.pk)) for member in members]
    transaction.on_commit(partial(push, wakes), robust=True)


def push(wakes: Iterable[tuple[str, Wake]]) -> None:
    """Wake now. Never raises for a broker or a launcher that is not there."""
    by_launcher: dict[str, list[Wake]] = defaultdict(list)
    for name, wake in wakes:
        by_launcher[name].append(wake)
    for name, some in by_launcher.items():
        try:
            LAUNCHERS[name].wake(some)
        except (KeyError, OSError, OperationalError) as error:
            _log.warning("push_failed", launcher=name, members=[w.member_id for w in some], error=str(error))
