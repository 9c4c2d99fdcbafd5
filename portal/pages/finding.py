"""Finding by words: what contains them; of names also what has their letters in order: 高超材 finds 高温超导材料."""

import re
from typing import Any

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

MOST_WORDS = 6
MOST_LETTERS = 24
LEAST_LETTERS = 2
"""One letter in order is in nearly every name."""


def matching(rows: QuerySet[Any], words: str, *fields: str) -> QuerySet[Any]:
    """Rows whose fields have every word, or whose first field has the letters in order; the best come first.

    Ordered by ``rank``: begins with the words, contains them, has each of them, has their letters.
    """
    first = fields[0]
    each = Q()
    for word in words.split()[:MOST_WORDS]:
        each &= _any(fields, word)
    letters = in_order(words)
    loose = each | Q(**{f"{first}__iregex": letters}) if letters else each
    rank = Case(
        When(**{f"{first}__istartswith": words}, then=Value(0)),
        When(**{f"{first}__icontains": words}, then=Value(1)),
        When(each, then=Value(2)),
        default=Value(3),
        output_field=IntegerField(),
    )
    found: QuerySet[Any] = rows.filter(loose).annotate(rank=rank)
    return found


def in_order(words: str) -> str:
    """A pattern for these letters with anything between; nothing where they are too few or too many."""
    found = [letter for letter in words if not letter.isspace()]
    if not LEAST_LETTERS <= len(found) <= MOST_LETTERS:
        return ""
    return ".*".join(re.escape(letter) for letter in found)


def _any(fields: tuple[str, ...], word: str) -> Q:
    found = Q()
    for field in fields:
        found |= Q(**{f"{field}__icontains": word})
    return found
