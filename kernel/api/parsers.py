"""The one reader of request bodies: JSON of which every value can be stored and shown again."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from kernel.errors import Invalid, TooLarge

MAX_DEPTH = 32
"""No call of ours takes more than a list of objects in an object."""
MAX_BYTES = 4 * 1024 * 1024
"""The framework's own bound does not hold here: its parser reads the stream past it."""
MAX_FAULTS = 20


class StorableJSONParser(JSONParser):
    """Refuses what PostgreSQL or UTF-8 cannot hold, once for all fields of all calls, and names the place.

    400 for what is no JSON or nested beyond ``MAX_DEPTH``; 422 for NUL characters, half surrogate pairs and
    numbers beyond the range of a double; 413 for more than ``MAX_BYTES``.
    """

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        headers = parser_context["request"].META if parser_context else {}
        if int(headers.get("CONTENT_LENGTH") or 0) > MAX_BYTES:
            raise TooLarge(data={"max_bytes": MAX_BYTES})
        try:
            body = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError(_("JSON is nested too deeply.")) from None
        require_storable(body)
        return body


def require_storable(body: Any) -> None:
    """Raise ``Invalid`` naming the places of decoded JSON that the database could not hold."""
    faults = dict(islice(_faults(body, ()), MAX_FAULTS))
    if faults:
        raise Invalid(faults)


def _faults(value: Any, place: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Every place that holds what cannot be stored, with the sentence about it."""
    if len(place) > MAX_DEPTH:
        raise ParseError(_("JSON is nested too deeply."))
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _faults(key, place)
            yield from _faults(child, (*place, _shown(key)))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _faults(child, (*place, str(index)))
    elif isinstance(value, str) and not is_storable(value):
        yield _name(place), _("NUL characters and half surrogate pairs are not allowed.")
    elif isinstance(value, float) and not math.isfinite(value):
        yield _name(place), _("This number is too large.")


def is_storable(text: str) -> bool:
    """Whether PostgreSQL has a text for it: no NUL character, no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _shown(key: str) -> str:
    return key[:60].encode("ascii", "backslashreplace").decode() if not is_storable(key) else key[:60]


def _name(place: tuple[str, ...]) -> str:
    return ".".join(place) or "non_field_errors"
