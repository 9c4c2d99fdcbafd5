"""Shapes of this room's API. Input is parsed here; what is allowed is said by the services."""

from typing import Any

from rest_framework import serializers

from accounts.models import Role
from approvals.models import Answer
from approvals.services.voting import MOST_COMMENT
from approvals.states import ApprovalState
from kernel.api.fields import InstantField

Fields = serializers.Serializer[Any]
LARGEST = 2**63 - 1


class ApprovalRowOutput(Fields):
    """One approval in a list. ``kind`` and ``subject`` name what is decided."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    subject = serializers.IntegerField()
    project = serializers.IntegerField(allow_null=True)
    title = serializers.CharField()
    requester = serializers.CharField(help_text="User name")
    state = serializers.ChoiceField(choices=ApprovalState.choices)
    version = serializers.IntegerField(help_text="Raised by everything that a decision could depend on")
    rule = serializers.CharField(help_text="The rule of the policy that it fell under")
    is_automatic = serializers.BooleanField(help_text="Granted by the portal itself, as the policy says")
    due_at = serializers.DateTimeField(allow_null=True, help_text="By when the step that waits is to be answered")
    submitted_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    deciders = serializers.ListField(
        child=serializers.CharField(), help_text="User names of everybody who may decide it now; empty when nobody can"
    )


class VoteOutput(Fields):
    person = serializers.CharField()
    on_behalf_of = serializers.CharField(allow_null=True)
    answer = serializers.ChoiceField(choices=Answer.choices)
    comment = serializers.CharField()
    changes = serializers.DictField()
    at = serializers.DateTimeField()


class StepOutput(Fields):
    """One decision on the way, in order."""

    number = serializers.IntegerField()
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices))
    people = serializers.ListField(child=serializers.CharField(), help_text="User names")
    started_at = serializers.DateTimeField(allow_null=True)
    due_at = serializers.DateTimeField(allow_null=True)
    passed_at = serializers.DateTimeField(allow_null=True)
    escalated_at = serializers.DateTimeField(allow_null=True)
    votes = VoteOutput(many=True)


class CommentOutput(Fields):
    id = serializers.IntegerField()
    author = serializers.CharField()
    text = serializers.CharField()
    is_private = serializers.BooleanField()
    at = serializers.DateTimeField()


class ApprovalOutput(ApprovalRowOutput):
    """One approval whole, with the comments that the caller may read."""

    content = serializers.CharField(help_text="Hash of what is asked; send it as ``seen`` to decide exactly that")
    round = serializers.IntegerField(help_text="Raised each time it is submitted again")
    policy_version = serializers.IntegerField()
    measures = serializers.DictField(help_text="By what the policy judged it; null: not known")
    changes = serializers.DictField(help_text="What who decided so far would grant instead")
    summary = serializers.DictField(help_text="What is asked, as the room that asks keeps it for lists")
    steps = StepOutput(many=True)
    comments = CommentOutput(many=True)


class VoteInput(Fields):
    """``version`` as it was read; null: whatever it is now."""

    comment = serializers.CharField(max_length=MOST_COMMENT, required=False, allow_blank=True, default="")
    version = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0, max_value=LARGEST)
    changes = serializers.DictField(required=False, default=dict)
    seen = serializers.CharField(
        required=False, allow_null=True, default=None, max_length=200, help_text="``content`` that was looked at"
    )


class HandOnChanges(Fields):
    to = serializers.IntegerField(min_value=1, max_value=LARGEST, help_text="Id of who is to decide instead")


class HandOnInput(Fields):
    comment = serializers.CharField(max_length=MOST_COMMENT, required=False, allow_blank=True, default="")
    version = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0, max_value=LARGEST)
    changes = HandOnChanges()


class CommentInput(Fields):
    text = serializers.CharField(max_length=MOST_COMMENT)
    is_private = serializers.BooleanField(
        required=False, default=False, help_text="For those who decide; never shown to who asked"
    )


class DelegationOutput(Fields):
    """``stand_in`` decides what ``principal`` may; with ``approval`` set, that one only."""

    id = serializers.IntegerField()
    principal = serializers.CharField()
    stand_in = serializers.CharField()
    approval = serializers.IntegerField(allow_null=True)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField()
    revoked_at = serializers.DateTimeField(allow_null=True)


class DelegationInput(Fields):
    """A stand-in of the caller's own, for everything."""

    stand_in = serializers.IntegerField(min_value=1, max_value=LARGEST, help_text="Id of a person")
    starts_at = InstantField(required=False, allow_null=True, default=None, help_text="Null: now")
    ends_at = InstantField()
    reason = serializers.CharField(max_length=MOST_COMMENT, required=False, allow_blank=True, default="")


class PolicyStep(Fields):
    """By anybody who holds one of ``roles`` or is one of ``people`` (ids)."""

    roles = serializers.ListField(child=serializers.CharField(max_length=20), required=False, default=list)
    people = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST), required=False, default=list, max_length=50
    )
    answer_hours = serializers.IntegerField(required=False, default=24, max_value=2**31 - 1)
    escalate_to = serializers.ListField(
        child=serializers.CharField(max_length=20), required=False, default=list, help_text="Roles"
    )


class PolicyRule(Fields):
    """The first rule of which every bound holds decides. No steps: granted at once. The last one has no bound."""

    name = serializers.CharField(max_length=200)
    steps = PolicyStep(many=True)
    most_gpus = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=-(2**31), max_value=2**31 - 1
    )
    most_share_percent = serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=0, max_value=100
    )
    most_days = serializers.IntegerField(required=False, allow_null=True, default=None, max_value=2**31 - 1)
    tiers = serializers.ListField(child=serializers.CharField(max_length=40), required=False, default=list)


class PolicyOutput(Fields):
    kind = serializers.CharField()
    version = serializers.IntegerField()
    rules = PolicyRule(many=True)
    reason = serializers.CharField()
    set_by = serializers.CharField(allow_null=True, help_text="User name; null: what the portal came with")
    set_at = serializers.DateTimeField()
    reviewed_at = serializers.DateTimeField(allow_null=True, help_text="When somebody last found that it still holds")
    review_overdue = serializers.BooleanField(help_text="Nobody looked at it for a quarter")


class PolicyInput(Fields):
    version = serializers.IntegerField(min_value=0, max_value=LARGEST, help_text="The version that was edited")
    rules = serializers.ListField(child=PolicyRule(), max_length=20)
    reason = serializers.CharField(max_length=2000)


class ReviewInput(Fields):
    version = serializers.IntegerField(min_value=0, max_value=LARGEST, help_text="The version that was looked at")
    note = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
