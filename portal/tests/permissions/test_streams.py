"""Rows of views that give their connection back while they send: called in a world that is really committed."""

import pytest

from portal.tests.permissions import world
from portal.tests.permissions.rows import ALL, fits, said


@pytest.mark.django_db(transaction=True)
def test_every_stream_answers_as_the_table_says() -> None:
    rows = [row for row in ALL if row.is_stream]
    here = world.build()
    here.prepare(rows)
    wrong = []
    for row in rows:
        for caller, expected in zip(row.callers, row.expected, strict=True):
            answer = here.call(row, caller)
            if not fits(answer, expected):
                wrong.append(f"{row.method} {row.path} as {caller}: {said(answer)} instead of {expected}")
    assert not wrong, "\n" + "\n".join(wrong)
