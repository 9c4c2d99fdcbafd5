"""Rows of the registry as the API gives them: plain data, no query of their own."""

from collections.abc import Iterable
from typing import Any

from accounts.models import Person
from projects.history import HistoryItem
from projects.models import Measurement, Membership, Question, ResearchArea, TierFact
from projects.selectors import ProjectDetail
from projects.suitability import ModelLine

Plain = dict[str, Any]


def person(someone: Person | None) -> Plain | None:
    if someone is None:
        return None
    return {"id": someone.pk, "username": someone.username, "display_name": someone.display_name}


def rows(projects: Iterable[Any]) -> list[Plain]:
    """Rows of ``selectors.with_facts``."""
    return [_row(project) for project in projects]


def detail(row: Any, found: ProjectDetail, thread: Iterable[Question]) -> Plain:
    asked = [question(line) for line in thread]
    return {**_row(row), "questions": asked, "can": list(found.can), "content": found.content}


def question(row: Question) -> Plain:
    return {
        "question": row.text,
        "asked_by": person(row.asked_by),
        "asked_at": row.asked_at,
        "answer": row.answer,
        "answered_by": person(row.answered_by),
        "answered_at": row.answered_at,
    }


def _row(project: Any) -> Plain:
    leads = [person(membership.person) for membership in project.live_leads]
    return {
        "id": project.pk,
        "name": project.name,
        "goal": project.goal,
        "kind": project.kind,
        "stage": project.stage,
        "state": project.state,
        "area": project.area.name if project.area else None,
        "data_class": project.data_class,
        "tier": project.tier_now,
        "breakthrough": project.breakthrough,
        "datasets": project.datasets,
        "expected_compute": [
            {"gpu_model": row.gpu_model.name, "min": row.min, "target": row.target, "max": row.max}
            for row in project.expected_compute.all()
        ],
        "milestones": [
            {"id": row.pk, "name": row.name, "due_on": row.due_on, "met_on": row.met_on}
            for row in project.milestones.all()
        ],
        "lead": leads[0] if leads else None,
        "leads": leads,
        "members_count": project.members_count,
        "created_by": person(project.created_by),
        "submitted_by": person(project.submitted_by),
        "created_at": project.created_at,
        "updated_at": project.updated_at,
    }


def member(row: Membership) -> Plain:
    return {
        "person": person(row.person),
        "role": row.role,
        "is_active": row.person.is_active,
        "joined_at": row.joined_at,
        "added_by": person(row.added_by),
    }


def item(row: HistoryItem) -> Plain:
    return {
        "at": row.at,
        "kind": row.kind,
        "what": row.what,
        "who": row.who,
        "before": row.before,
        "after": row.after,
        "reason": row.reason,
    }


def tier(fact: TierFact) -> Plain:
    return {"tier": fact.tier, "effective_from": fact.during.lower, "reason": fact.reason}


def measurement(row: Measurement) -> Plain:
    return {
        "id": row.pk,
        "gpu_model": row.gpu_model.name,
        "throughput": None if row.throughput is None else float(row.throughput),
        "unit": row.unit,
        "evidence": row.evidence,
        "job": row.job,
        "state": row.state,
        "stated_by": person(row.stated_by),
        "stated_at": row.stated_at,
        "decided_by": person(row.decided_by),
        "decided_at": row.decided_at,
        "decision_reason": row.decision_reason,
    }


def suitability(line: ModelLine) -> Plain:
    confirmed, reference = line.now.measurement, line.now.reference
    return {
        "gpu_model": line.gpu_model.name,
        "suitability": float(line.now.value),
        "source": line.now.source,
        "default": float(line.now.default),
        "reference": reference.name if reference else None,
        "confirmed": measurement(confirmed) if confirmed else None,
        "proposed": measurement(line.proposed) if line.proposed else None,
    }


def area(row: ResearchArea) -> Plain:
    return {"id": row.pk, "name": row.name, "title": row.title, "parent": row.parent.name if row.parent else None}
