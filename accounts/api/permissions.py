"""What a token may do at all, before any room asks what its owner may do."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from accounts.models import Scope, ServiceToken

if TYPE_CHECKING:  # The module of views reads these permissions from the settings while it loads.
    from rest_framework.views import APIView


class ScopePermission(BasePermission):
    """Every scope reads. ``write`` changes anything that the owner may change; ``jobs`` only what views with
    ``writing_scope = Scope.JOBS`` offer. A session of a browser has no scope and is not limited here."""

    message = _("The scopes of this token do not allow this.")

    def has_permission(self, request: Request, view: "APIView") -> bool:
        token = request.auth
        if not isinstance(token, ServiceToken) or request.method in SAFE_METHODS:
            return True
        enough = {Scope.WRITE.value, str(getattr(view, "writing_scope", Scope.WRITE))}
        return not enough.isdisjoint(token.scopes)
