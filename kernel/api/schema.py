"""How the OpenAPI document describes refusals: ``extend_schema(responses={200: …, **problems(403, 404)})``."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

REASONS = {
    400: "The body is no JSON",
    401: "No token, or one that cannot be used",
    403: "The right is missing",
    404: "There is nothing here, or nothing for you",
    409: "Not possible in this state",
    413: "The body is too large",
    415: "The body is of another type than application/json",
    422: "Values that cannot be taken, by field",
}


class ProblemSerializer(serializers.Serializer[Any]):
    """Problem details (RFC 9457)."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    errors = serializers.DictField(  # type: ignore[assignment]  # a field here, not the errors of this object
        child=serializers.ListField(child=serializers.CharField()), required=False
    )


def problems(*statuses: int) -> dict[Any, OpenApiResponse]:
    """The refusals of a call: 401 always, and these."""
    return {
        (status, "application/problem+json"): OpenApiResponse(ProblemSerializer, description=REASONS[status])
        for status in (401, *statuses)
    }
