"""Milestones of the demo's projects: most of the past are met, one project in seven is late. Pure."""

from datetime import date, timedelta
from random import Random

from portal.demo import names
from projects.models import Milestone, Project
from projects.states import ProjectState as S

LATE = 0.15
"""Of the projects under way: how many have missed a date."""
LATEST_DAYS = 38
_UNDER_WAY = (S.ACTIVE, S.SUSPENDED)


def milestones(random: Random, project: Project, began: date, today: date) -> list[Milestone]:
    """From 15 to 60 days apart; whatever lies behind was met, but for the last of a late project."""
    if project.state not in _UNDER_WAY and project.state != S.CLOSED:
        began = today
    due, rows = began + timedelta(days=random.randint(15, 40)), []
    for name in _names(random):
        rows.append(Milestone(project=project, name=name, due_on=due))
        due += timedelta(days=random.randint(25, 60))
    while project.state in _UNDER_WAY and rows[-1].due_on <= today:
        rows.append(Milestone(project=project, name=names.LAST_MILESTONES[len(rows) % 3], due_on=due))
        due += timedelta(days=random.randint(25, 60))
    is_late = project.state in _UNDER_WAY and random.random() < LATE
    _meet(random, rows, today, project.state == S.CLOSED, is_late)
    return rows


def _names(random: Random) -> tuple[str, ...]:
    return names.MILESTONES[: random.randint(2, 5)]


def _meet(random: Random, rows: list[Milestone], today: date, has_ended: bool, is_late: bool) -> None:
    """Some days before or after the date; the missed one lies a day to some weeks back."""
    behind = [row for row in rows if row.due_on < today or has_ended]
    missed = behind.pop() if is_late and behind else None
    for row in behind:
        row.met_on = min(today, row.due_on + timedelta(days=random.randint(-9, 6)))
    if missed is not None:
        earliest = behind[-1].due_on + timedelta(days=2) if behind else missed.due_on
        due = today - timedelta(days=random.randint(1, LATEST_DAYS))
        missed.due_on = min(max(due, earliest), today - timedelta(days=1))
