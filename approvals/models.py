"""Approvals with their steps and votes, the talk about them, who stands in for whom, and the policies."""

from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField, DateTimeRangeField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Person, Role
from approvals.rules import Measures, Rules, StepRule, read
from approvals.states import APPROVAL, OPEN, ApprovalState
from kernel.ranges import to_interval
from kernel.unit import LockRank


class PolicyVersion(models.Model):
    """The rules of one kind from ``created_at`` until the next version. Never changed: a new version takes over."""

    kind = models.CharField(max_length=40)
    number = models.PositiveIntegerField()
    rules = models.JSONField()
    reason = models.TextField(blank=True)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    """None: what the portal came with."""
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "number"], name="policyversion_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"

    @property
    def parsed(self) -> Rules:
        return read(self.rules)


class PolicyReview(models.Model):
    """Somebody looked at a policy and found that it still holds (ELA4): each quarter, on record."""

    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="reviews")
    by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    note = models.TextField(blank=True)


class Approval(models.Model):
    """One thing to decide, from the first submission to its end; asked back and submitted again it stays the same.

    ``kind`` and ``subject_id`` name what is decided, in the room that registered the kind; ``project_id`` whose it
    is. They are plain numbers: rooms above are not known here.
    """

    lock_rank = LockRank.APPROVAL
    machine = APPROVAL
    kind = models.CharField(max_length=40)
    subject_id = models.BigIntegerField()
    project_id = models.BigIntegerField(null=True)
    title = models.CharField(max_length=200)
    """What it is about in a few words, as it was when it was submitted last."""
    requester = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=20, choices=ApprovalState.choices, default=ApprovalState.WAITING)
    version = models.PositiveIntegerField(default=1)
    """Raised by everything that a decision could depend on: a page that is older decides nothing."""
    round = models.PositiveSmallIntegerField(default=1)
    """Raised each time it is submitted again: votes of an earlier round do not count."""
    content = models.CharField(max_length=200)
    """Hash of what is asked, as the room computed it when it was submitted or voted on last."""
    measures = models.JSONField(default=dict)
    summary = models.JSONField(default=dict)
    """What the room keeps of it for lists: plain values, as they were when it was submitted last."""
    changes = models.JSONField(default=dict)
    """What who decided so far would have otherwise, such as a smaller amount."""
    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="+")
    rule = models.CharField(max_length=200)
    is_automatic = models.BooleanField(default=False)
    """Granted by the portal itself, because the policy says so."""
    due_at = models.DateTimeField(null=True)
    """By when the step that waits is to be answered."""
    requested_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject_id"], condition=Q(state__in=OPEN), name="approval_open_once"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at", "id"], name="approval_open", condition=Q(state__in=OPEN)),
            models.Index(fields=["-decided_at", "-id"], name="approval_decided"),
            models.Index(fields=["kind", "subject_id"], name="approval_subject"),
            models.Index(fields=["project_id"], name="approval_project"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def measured(self) -> Measures:
        return Measures.of(self.measures)

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


class Step(models.Model):
    """One decision on the way of one round. It waits from ``started_at`` until ``passed_at``."""

    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="steps")
    round = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField()
    roles = ArrayField(models.CharField(max_length=20, choices=Role.choices), default=list)
    people = ArrayField(models.BigIntegerField(), default=list)
    answer_hours = models.PositiveIntegerField()
    escalate_to = ArrayField(models.CharField(max_length=20, choices=Role.choices), default=list)
    started_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    passed_at = models.DateTimeField(null=True)
    reminded_at = models.DateTimeField(null=True)
    escalated_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["round", "number"]
        constraints = [models.UniqueConstraint(fields=["approval", "round", "number"], name="step_once")]

    @property
    def rule(self) -> StepRule:
        return StepRule(tuple(self.roles), tuple(self.people), self.answer_hours, tuple(self.escalate_to))

    @property
    def open_to(self) -> frozenset[str]:
        """The roles that may decide it now."""
        return frozenset(self.roles) | (frozenset(self.escalate_to) if self.escalated_at else frozenset())


class Answer(models.TextChoices):
    APPROVE = "approve", _("approved")
    REJECT = "reject", _("refused")
    RETURN = "return", _("asked back")


class LapseReason(models.TextChoices):
    """Why a vote no longer counts."""

    CONTENT = "content", _("what is asked has changed since it was approved")
    RIGHT = "right", _("who approved it is no longer active, without the role, or on the side of who asks by now")

    @classmethod
    def words(cls, kept: str) -> str:
        """In the reader's language; a sentence of an older version as it was kept."""
        return str(cls(kept).label) if kept in cls.values else kept


class Vote(models.Model):
    """One person's answer in one step, on exactly the content it names. The database refuses who asked.

    ``on_behalf_of``: for whom a stand-in voted. A vote that no longer counts has ``lapsed_at``; it is never deleted.
    """

    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="votes")
    step = models.ForeignKey(Step, on_delete=models.PROTECT, related_name="votes")
    round = models.PositiveSmallIntegerField()
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    on_behalf_of = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    answer = models.CharField(max_length=10, choices=Answer.choices)
    comment = models.TextField(blank=True)
    changes = models.JSONField(default=dict)
    content = models.CharField(max_length=200)
    version = models.PositiveIntegerField()
    """The version that the approval has since."""
    at = models.DateTimeField()
    lapsed_at = models.DateTimeField(null=True)
    lapse_reason = models.TextField(blank=True)
    """A ``LapseReason``."""

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["approval", "round", "person"], condition=Q(lapsed_at__isnull=True), name="vote_once"
            ),
        ]
        indexes = [models.Index(fields=["person"], name="vote_person")]


class Comment(models.Model):
    """A remark on an approval. A private one is for those who decide, never for who asked."""

    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="comments")
    author = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    is_private = models.BooleanField(default=False)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]


class DelegationQuerySet(models.QuerySet["Delegation"]):
    def not_over(self, at: datetime) -> "DelegationQuerySet":
        """In force at an instant, or to come; one without an end is."""
        return self.filter(revoked_at__isnull=True).exclude(during__fully_lt=(at, None))

    def of(self, person_id: int) -> "DelegationQuerySet":
        """Those this person gave or got."""
        return self.filter(Q(principal=person_id) | Q(stand_in=person_id))


class Delegation(models.Model):
    """``stand_in`` may decide what ``principal`` may, during an interval; with ``approval`` set, that one only."""

    lock_rank = LockRank.DELEGATION
    principal = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="delegations")
    stand_in = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="stands_in")
    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, null=True, related_name="handed_to")
    during = DateTimeRangeField()
    reason = models.TextField(blank=True)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    objects = DelegationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(principal=F("stand_in")), name="delegation_to_another"),
            models.UniqueConstraint(
                fields=["principal", "stand_in", "approval"],
                condition=Q(revoked_at__isnull=True, approval__isnull=False),
                name="delegation_handed_once",
            ),
        ]
        indexes = [models.Index(fields=["stand_in"], name="delegation_stand_in", condition=Q(revoked_at__isnull=True))]

    @property
    def starts_at(self) -> datetime:
        return to_interval(self.during).start

    @property
    def ends_at(self) -> datetime | None:
        return to_interval(self.during).end


def plain(approval: Approval) -> dict[str, Any]:
    """What the audit log keeps of an approval."""
    return {
        "approval": approval.pk,
        "kind": approval.kind,
        "subject": approval.subject_id,
        "project": approval.project_id,
        "state": approval.state,
        "content": approval.content,
        "changes": approval.changes,
        "policy": str(approval.policy),
        "rule": approval.rule,
    }
