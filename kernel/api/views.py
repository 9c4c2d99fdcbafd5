"""Base of the rooms' API views: strict input, ordering by allow-listed keys, idempotent writing."""

import functools
import json
from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from kernel import idempotency
from kernel.errors import Invalid
from kernel.problem import flatten
from kernel.unit import unit_of_work

WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
KEY_HEADER = "Idempotency-Key"
Handler = Callable[..., Response]


class IdempotentMixin(APIView):
    """A writing call that carries an ``Idempotency-Key`` acts once; again, it gets the first answer."""

    shown_once: frozenset[str] = frozenset()
    """Fields of an answer that hold a secret. They are left out of what is stored, so a repeat lacks them."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        key = request.headers.get(KEY_HEADER)
        method = str(request.method)
        if key is not None and method in WRITING:
            handler = getattr(self, method.lower(), self.http_method_not_allowed)
            setattr(self, method.lower(), functools.partial(_once, handler, key, self.shown_once))


def _once(
    handler: Handler, key: str, shown_once: frozenset[str], request: Request, *args: Any, **kwargs: Any
) -> Response:
    body = json.dumps(request.data, sort_keys=True, default=str).encode()
    fingerprint = idempotency.request_hash(str(request.method), request.path, body)
    actor: Any = request.user
    with unit_of_work():
        stored = idempotency.claim(actor=actor, key=key, fingerprint=fingerprint)
        if stored is not None:
            return Response(stored.body, status=stored.status, headers={"Idempotent-Replay": "true"})
        response = handler(request, *args, **kwargs)
        plain = json.loads(JSONRenderer().render(response.data)) if response.data is not None else None
        if shown_once and isinstance(plain, dict):
            plain = {name: value for name, value in plain.items() if name not in shown_once}
        idempotency.store(actor=actor, key=key, status=response.status_code, body=plain)
    return response


class PortalViewSet(IdempotentMixin, GenericViewSet[Any]):
    """Subclasses give ``get_queryset`` (from ``visible_to``) and call one service per action."""

    lookup_value_regex = "[0-9]{1,18}"
    ordering_fields: tuple[str, ...] = ()
    """Keys that ``?ordering=`` may name, with ``-`` for descending. Nothing else sorts."""

    def parse(self, serializer_class: type[Serializer[Any]], *, partial: bool = False) -> dict[str, Any]:
        """Validated input of this request; raises ``Invalid`` with the faults by field."""
        serializer = serializer_class(data=self.request.data, partial=partial, context=self.get_serializer_context())
        if not serializer.is_valid():
            raise Invalid(flatten(serializer.errors))
        return dict(serializer.validated_data)

    def listing(self, rows: Any, present: Callable[[list[Any]], Any]) -> Response:
        """One page of ``rows``, filtered and in the order asked for; ``present`` turns its rows into plain data."""
        page = self.paginate_queryset(self.ordered(self.filter_queryset(rows)))
        return self.get_paginated_response(present(list(page or [])))

    def ordered(self, rows: Any) -> Any:
        asked = [key for key in self.request.query_params.get("ordering", "").split(",") if key]
        for key in asked:
            if key.removeprefix("-") not in self.ordering_fields:
                text = _("“%(key)s” cannot be sorted by; allowed: %(allowed)s")
                allowed = ", ".join(self.ordering_fields) or _("none")
                raise Invalid({"ordering": text % {"key": key[:60], "allowed": allowed}})
        return rows.order_by(*asked, "pk") if asked else rows
