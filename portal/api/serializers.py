"""What the API of saved views takes and gives. Parsing only: the services judge."""

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from portal.pages.views.address import MAX_QUERY
from portal.pages.views.selectors import ViewRow
from portal.pages.views.services import MAX_NAME
from projects.api.serializers import StrictSerializer


class ViewInput(StrictSerializer):
    """``query`` is the part of an address of the table after its question mark, without ``page`` and ``ids``."""

    name = serializers.CharField(max_length=MAX_NAME)
    query = serializers.CharField(
        max_length=MAX_QUERY, allow_blank=True, default="", help_text="state=active&columns=tier,used&sort=-used"
    )
    is_shared = serializers.BooleanField(default=False, help_text="Everybody sees it, each with their own projects.")
    is_default = serializers.BooleanField(default=False, help_text="The table opens with it for the caller.")


class ViewPatch(StrictSerializer):
    """What is absent stays as it is. ``is_default`` is the caller's own choice, also of a view of somebody else."""

    name = serializers.CharField(max_length=MAX_NAME, required=False)
    query = serializers.CharField(max_length=MAX_QUERY, allow_blank=True, required=False)
    is_shared = serializers.BooleanField(required=False)
    is_default = serializers.BooleanField(required=False)


class OwnerOutput(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    username = serializers.CharField()
    name = serializers.CharField()


class ViewOutput(serializers.Serializer[Any]):
    """``query`` in its canonical form; ``url`` is the page."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    query = serializers.CharField()
    owner = OwnerOutput()
    is_shared = serializers.BooleanField()
    is_mine = serializers.BooleanField()
    is_default = serializers.BooleanField()
    can_change = serializers.BooleanField()
    updated_at = serializers.DateTimeField()
    url = serializers.CharField()


def plain(row: ViewRow) -> dict[str, Any]:
    """A view as the API gives it."""
    return {
        "id": row.pk,
        "name": row.name,
        "query": row.query,
        "owner": {"id": row.owner.pk, "username": row.owner.username, "name": str(row.owner)},
        "is_shared": row.is_shared,
        "is_mine": row.is_mine,
        "is_default": row.is_default,
        "can_change": row.may_change,
        "updated_at": row.updated_at,
        "url": f"{reverse('projects:list')}?view={row.pk}",
    }
