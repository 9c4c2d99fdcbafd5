"""Ids in text that anybody may have typed."""

import pytest

from kernel.ids import MAX_DIGITS, id_in


@pytest.mark.parametrize("text", ["", " 1", "-1", "1.0", "１", "²", "1" * (MAX_DIGITS + 1), "\0"])
def test_what_writes_no_id_is_none(text: str) -> None:
    assert id_in(text) is None


def test_an_id_is_read() -> None:
    assert [id_in(text) for text in ("0", "12", "9" * MAX_DIGITS)] == [0, 12, 10**MAX_DIGITS - 1]
