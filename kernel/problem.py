"""The API's renderer of errors: problem details (RFC 9457), one shape for ours and the framework's."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from kernel.errors import Forbidden, Invalid, NotFound, PortalError

CONTENT_TYPE = "application/problem+json"


def problem_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn a refusal into problem details; None (a 500) for what is a fault of ours."""
    if isinstance(error, Http404):
        error = NotFound()
    elif isinstance(error, PermissionDenied):
        error = Forbidden()
    elif isinstance(error, exceptions.ValidationError):
        error = Invalid(flatten(error.detail))
    if isinstance(error, PortalError):
        set_rollback()
        headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
        return Response(problem(error), status=error.status, headers=headers, content_type=CONTENT_TYPE)
    if isinstance(error, exceptions.APIException):
        set_rollback()
        return _framework_problem(error)
    return None


def problem(error: PortalError) -> dict[str, Any]:
    """``type``, ``title``, ``status``, ``detail``, ``code`` and the error's own data."""
    return {
        "type": f"urn:sluice:{error.code}",
        "title": str(error.title),
        "status": error.status,
        "detail": error.message,
        "code": error.code,
        **error.data,
    }


def flatten(detail: Any, prefix: str = "") -> dict[str, list[str]]:
    """Nested errors of a serializer as ``{"milestones.0.due_on": [text]}``; its own as ``non_field_errors``."""
    if isinstance(detail, dict):
        children = [(str(key), value) for key, value in detail.items()]
    elif any(isinstance(item, dict | list) for item in detail):
        children = [(str(index), value) for index, value in enumerate(detail)]
    else:
        return {prefix or "non_field_errors": [str(text) for text in detail]}
    flat: dict[str, list[str]] = {}
    for key, value in children:
        if value:
            flat.update(flatten(value, f"{prefix}.{key}" if prefix else key))
    return flat


def _framework_problem(error: exceptions.APIException) -> Response:
    headers = {}
    if header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait))
    code = error.get_codes() if isinstance(error.detail, str) else error.default_code
    body = {
        "type": f"urn:sluice:{code}",
        "title": _("Request refused"),
        "status": error.status_code,
        "detail": str(error.detail),
        "code": code,
    }
    return Response(body, status=error.status_code, headers=headers, content_type=CONTENT_TYPE)
