"""Approvals, stand-ins and policies as plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.models import Person
from approvals.deciders import Decider, current_steps, deciders
from approvals.kinds import contents_shown
from approvals.models import Approval, Comment, Delegation, Step, Vote
from approvals.policy_facts import PolicyFact
from approvals.rules import written
from approvals.selectors import names, talk_of, way_of
from approvals.states import ApprovalState

Plain = dict[str, Any]


def rows(found: Sequence[Approval]) -> list[Plain]:
    """A page of a list. A constant number of statements."""
    waiting = [row for row in found if row.state == ApprovalState.WAITING]
    able = deciders(waiting, current_steps(waiting)) if waiting else {}
    people = names(sorted({one.person_id for each in able.values() for one in each}))
    return [_row(row, able.get(row.pk, ()), people) for row in found]


def whole(approval: Approval, reader: object) -> Plain:
    steps = way_of(approval)
    people = names([pk for step in steps for pk in step.people])
    return {
        **rows([approval])[0],
        "content": contents_shown([approval])[approval.pk],
        "round": approval.round,
        "policy_version": approval.policy.number,
        "measures": approval.measures,
        "changes": approval.changes,
        "summary": approval.summary,
        "steps": [_step(step, people) for step in steps],
        "comments": [comment(one) for one in talk_of(reader, approval)],
    }


def comment(row: Comment) -> Plain:
    return {
        "id": row.pk,
        "author": row.author.username,
        "text": row.text,
        "is_private": row.is_private,
        "at": row.at,
    }


def delegation(row: Delegation) -> Plain:
    return {
        "id": row.pk,
        "principal": row.principal.username,
        "stand_in": row.stand_in.username,
        "approval": row.approval_id,
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "reason": row.reason,
        "revoked_at": row.revoked_at,
    }


def policy(fact: PolicyFact, *, is_overdue: bool) -> Plain:
    row = fact.policy
    return {
        "kind": fact.kind.name,
        "version": row.number,
        "rules": written(fact.rules),
        "reason": row.reason,
        "set_by": row.created_by.username if row.created_by else None,
        "set_at": row.created_at,
        "reviewed_at": fact.review.at if fact.review else None,
        "review_overdue": is_overdue,
    }


def _row(row: Approval, able: Sequence[Decider], people: Mapping[int, Person]) -> Plain:
    return {
        "id": row.pk,
        "kind": row.kind,
        "subject": row.subject_id,
        "project": row.project_id,
        "title": row.title,
        "requester": row.requester.username,
        "state": row.state,
        "version": row.version,
        "rule": row.rule,
        "is_automatic": row.is_automatic,
        "due_at": row.due_at,
        "submitted_at": row.submitted_at,
        "decided_at": row.decided_at,
        "deciders": [people[one.person_id].username for one in able],
    }


def _step(step: Step, people: Mapping[int, Person]) -> Plain:
    given: list[Vote] = step.given  # type: ignore[attr-defined]  # set by ``way_of``
    return {
        "number": step.number,
        "roles": step.roles,
        "people": [people[pk].username for pk in step.people if pk in people],
        "started_at": step.started_at,
        "due_at": step.due_at,
        "passed_at": step.passed_at,
        "escalated_at": step.escalated_at,
        "votes": [_vote(vote) for vote in given],
    }


def _vote(vote: Vote) -> Plain:
    return {
        "person": vote.person.username,
        "on_behalf_of": vote.on_behalf_of.username if vote.on_behalf_of else None,
        "answer": vote.answer,
        "comment": vote.comment,
        "changes": vote.changes,
        "at": vote.at,
    }
