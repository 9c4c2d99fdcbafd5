"""What is true of every call of ours, said once in the OpenAPI document: refusals, sorting, idempotency."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from kernel.api.schema import problems
from kernel.api.views import KEY_HEADER, WRITING, IdempotentMixin
from kernel.idempotency import MAX_KEY_LENGTH

_KEY = OpenApiParameter(
    KEY_HEADER,
    {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
    OpenApiParameter.HEADER,
    description="Any text of your own. The same call with the same key again gives the first answer, and acts once.",
)


class PortalAutoSchema(AutoSchema):
    """Adds to what a view says of itself the refusals and parameters that its kind of call always has."""

    def get_override_parameters(self) -> list[Any]:
        return [*super().get_override_parameters(), *self._ordering(), *self._key()]

    def _ordering(self) -> list[OpenApiParameter]:
        keys = getattr(self.view, "ordering_fields", ())
        if not keys or getattr(self.view, "action", "") != "list":
            return []
        text = f"Comma-separated, with - for descending: {', '.join(keys)}."
        return [OpenApiParameter("ordering", str, description=text)]

    def _key(self) -> list[OpenApiParameter]:
        return [_KEY] if self.method in WRITING and isinstance(self.view, IdempotentMixin) else []

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        for (status, *types), response in problems(*self._always()).items():
            code = str(status)
            if code not in bodies:
                bodies[code] = self._get_response_for_code(response, code, types, direction)  # type: ignore[no-untyped-call]
        return dict(sorted(bodies.items()))

    def _always(self) -> set[int]:
        """Refusals that this kind of call has, whatever the view says."""
        refusals: set[int] = set()
        parameters = self._get_parameters()
        if self.method in WRITING:
            refusals |= {400, 403, 409, 413, 415, 422}
        if any(parameter["in"] == "query" for parameter in parameters):
            refusals.add(422)
        if self._is_list_view() or any(parameter["in"] == "path" for parameter in parameters):
            refusals.add(404)
        return refusals
