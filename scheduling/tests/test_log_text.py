"""Bytes of a log become text without breaking a character, and offsets stay offsets of bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.log_text import LogText, event


@given(text=st.text(), cuts=st.lists(st.integers(0, 400), max_size=8))
def test_any_cutting_gives_the_same_text(text: str, cuts: list[int]) -> None:
    data = text.encode()
    reader, shown = LogText(0), ""
    for end in [*sorted(min(cut, len(data)) for cut in cuts), len(data)]:
        shown += reader.take(data[reader.offset : max(end, reader.offset)], is_last=False)
    shown += reader.take(data[reader.offset :], is_last=True)
    assert shown == text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    assert reader.offset == len(data)


@given(data=st.binary(max_size=300))
def test_any_bytes_come_to_an_end(data: bytes) -> None:
    reader = LogText(0)
    reader.take(data, is_last=False)
    assert len(data) - reader.offset <= 3
    reader.take(data[reader.offset :], is_last=True)
    assert reader.offset == len(data)


def test_half_a_character_waits_for_its_other_half() -> None:
    reader, euro = LogText(10), "€".encode()
    assert reader.take(b"a" + euro[:2], is_last=False) == "a"
    assert reader.offset == 11
    assert reader.take(euro + b"b", is_last=False) == "€b"
    assert reader.offset == 15


@pytest.mark.parametrize(
    ("text", "sent"), [("a\nb", b"id: 3\ndata: a\ndata: b\n\n"), ("a\n", b"id: 3\ndata: a\ndata: \n\n")]
)
def test_an_event_carries_every_line(text: str, sent: bytes) -> None:
    assert event(text, 3) == sent
