"""Shapes of quota requests over the API."""

from typing import Any

from rest_framework import serializers

from approvals.api.serializers import StepOutput
from kernel.api.fields import InstantField
from quotas.requests.files import MOST_NAME
from quotas.states import RequestState

Fields = serializers.Serializer[Any]
LARGEST = 2**63 - 1
MOST_CHARACTERS = 4 * 1024 * 1024


class RequestEdit(Fields):
    """New totals in whole GPUs. ``limit`` null: no limit; ``starts_at`` null: at once when granted; ``ends_at`` null:
    until the next review decides."""

    gpu_model = serializers.CharField(
        max_length=60, required=False, allow_null=True, help_text="Name or id of a GPU model."
    )
    guaranteed = serializers.IntegerField(required=False, allow_null=True, min_value=-LARGEST, max_value=LARGEST)
    limit = serializers.IntegerField(required=False, allow_null=True, min_value=-LARGEST, max_value=LARGEST)
    least = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=-LARGEST,
        max_value=LARGEST,
        help_text="The least guarantee that would still help.",
    )
    starts_at = InstantField(required=False, allow_null=True)
    ends_at = InstantField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True)


class RequestPatch(RequestEdit):
    seen = serializers.CharField(
        max_length=200, required=False, help_text="Hash of the content that was edited; 409 if it is another by now."
    )


class RequestInput(RequestEdit):
    """A draft: it may lack anything but its project."""

    project = serializers.IntegerField(min_value=1, max_value=LARGEST)


class RequestSubmitInput(Fields):
    answer = serializers.CharField(
        max_length=2000,
        required=False,
        allow_blank=True,
        default="",
        help_text="To the question with which it was asked back; needed exactly while one is open.",
    )


class WithdrawInput(Fields):
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class AttachmentInput(Fields):
    """Calls are bounded, so that a file has at most 3 MiB here, 5 MiB on the page."""

    name = serializers.CharField(max_length=MOST_NAME)
    content = serializers.CharField(max_length=MOST_CHARACTERS, help_text="The file's bytes in base64.")


class AttachmentOutput(Fields):
    id = serializers.IntegerField()
    name = serializers.CharField()
    content_type = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes")
    sha256 = serializers.CharField()
    added_by = serializers.CharField(help_text="User name")
    added_at = serializers.DateTimeField()


class GrantedOutput(Fields):
    guaranteed = serializers.IntegerField()
    limit = serializers.IntegerField(allow_null=True)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(allow_null=True)


class RequestQuestionOutput(Fields):
    text = serializers.CharField()
    by = serializers.CharField(help_text="User name")
    at = serializers.DateTimeField()


class RequestRowOutput(Fields):
    """One request in a list."""

    id = serializers.IntegerField()
    project = serializers.IntegerField()
    gpu_model = serializers.CharField(allow_null=True)
    guaranteed = serializers.IntegerField(allow_null=True)
    limit = serializers.IntegerField(allow_null=True)
    least = serializers.IntegerField(allow_null=True)
    starts_at = serializers.DateTimeField(allow_null=True)
    ends_at = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField()
    state = serializers.ChoiceField(choices=RequestState.choices)
    created_by = serializers.CharField(help_text="User name")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    submitted_by = serializers.CharField(allow_null=True, help_text="User name")
    submitted_at = serializers.DateTimeField(allow_null=True)
    cloned_from = serializers.IntegerField(allow_null=True)
    approval = serializers.IntegerField(allow_null=True, help_text="Where it is decided; null before it is submitted.")
    granted = GrantedOutput(allow_null=True)


class RequestOutput(RequestRowOutput):
    """One request whole."""

    content = serializers.CharField(help_text="Hash of what is asked.")
    path = StepOutput(many=True, help_text="The steps of the decision, in order.")
    question = RequestQuestionOutput(allow_null=True, help_text="What is to be answered before it is submitted again.")
    attachments = AttachmentOutput(many=True)
    can = serializers.ListField(child=serializers.CharField(), help_text="What the caller could do now.")
