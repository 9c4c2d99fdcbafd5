"""The one reader of request bodies: JSON of which every value can be stored and shown again."""

import math
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from kernel.errors import Invalid

MAX_DEPTH = 32
"""No call of ours takes more than a list of objects in an object."""


class StorableJSONParser(JSONParser):
    """Refuses what PostgreSQL or UTF-8 cannot hold, once for all fields of all calls, and names the place.

    400 for what is no JSON or nested beyond ``MAX_DEPTH``; 422 for NUL characters, half surrogate pairs and
    numbers beyond the range of a double.
    """

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        try:
            body = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError(_("JSON is nested too deeply.")) from None
        require_storable(body)
        return body


def require_storable(body: Any) -> None:
    """Raise ``Invalid`` naming every place of decoded JSON that the database could not hold."""
    faults = dict(_faults(body, ()))
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
