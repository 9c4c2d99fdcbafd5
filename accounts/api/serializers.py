"""What the API takes and gives. Input is parsed here; what is allowed is said by the services."""

from typing import Any

from rest_framework import serializers

from accounts.models import Role, Scope
from accounts.services.offboarding import MAX_REASON
from accounts.services.tokens import DEFAULT_DAYS


class PersonSerializer(serializers.Serializer[Any]):
    """Somebody to choose as a member. What follows ``display_name`` is for admins and auditors only."""

    id = serializers.IntegerField()
    username = serializers.CharField()
    display_name = serializers.CharField()
    email = serializers.CharField(required=False)
    is_active = serializers.BooleanField(required=False)
    is_service = serializers.BooleanField(required=False)
    language = serializers.CharField(required=False, help_text="Their own choice; empty: as the browser asks")
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices), required=False)


class NewPersonSerializer(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150)
    display_name = serializers.CharField(max_length=200)
    email = serializers.CharField(max_length=254, required=False, default="", allow_blank=True)
    password = serializers.CharField(
        max_length=4096, required=False, default=None, allow_null=True, write_only=True, trim_whitespace=False
    )
    is_service = serializers.BooleanField(required=False, default=False)


class LanguageSerializer(serializers.Serializer[Any]):
    language = serializers.CharField(
        max_length=10, allow_blank=True, help_text="en or zh-hans; empty: as the call's Accept-Language asks"
    )


class FarewellSerializer(serializers.Serializer[Any]):
    """Off-boarding. Without a successor that is needed the answer is a 422 naming each project."""

    reason = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=MAX_REASON, help_text="Needed; kept with the report"
    )
    successors = serializers.DictField(
        child=serializers.IntegerField(allow_null=True, min_value=1, max_value=2**63 - 1),
        required=False,
        default=dict,
        help_text="By id of each project that has no other lead: id of the new lead; null leaves it without one",
    )


class RoleSerializer(serializers.Serializer[Any]):
    role = serializers.CharField(max_length=20, help_text="director, admin or auditor")


class TokenSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    owner = serializers.CharField(help_text="User name")
    prefix = serializers.CharField(help_text="How the secret begins")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)


class IssuedTokenSerializer(TokenSerializer):
    token = serializers.CharField(help_text="The secret. Shown now and never again.")


class NewTokenSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200)
    scopes = serializers.ListField(
        child=serializers.CharField(max_length=20), required=False, default=lambda: [Scope.READ.value], max_length=10
    )
    days = serializers.IntegerField(required=False, default=DEFAULT_DAYS)
    owner = serializers.CharField(
        required=False, default="", help_text="User name of a service account, for admins. Else the caller."
    )


class AuditSealSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    hash = serializers.CharField()


class AuditEntrySerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    action = serializers.CharField()
    subject_type = serializers.CharField()
    subject_id = serializers.CharField()
    actor_type = serializers.CharField()
    actor_id = serializers.CharField()
    actor_name = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)
    via = serializers.CharField()
    address = serializers.CharField()
    token = serializers.CharField(help_text="Name of the token that was used, if any")
    seal = AuditSealSerializer(allow_null=True, help_text="Its link in the chain; null for the first seconds")


class AuditQuestionSerializer(serializers.Serializer[Any]):
    """Filters of the list. Days are the organisation's, both included."""

    actor = serializers.CharField(required=False, max_length=200, help_text="Part of a name, or an id")
    action = serializers.CharField(required=False, max_length=80, help_text="Begins with")
    subject = serializers.CharField(
        required=False, max_length=200, help_text="A kind, or a kind and id: projects.project:7"
    )
    since = serializers.DateField(required=False)
    until = serializers.DateField(required=False)
