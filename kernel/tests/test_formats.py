"""How quantities are written."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from kernel import formats

NOW = datetime(2026, 6, 9, 6, 20, 6, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")
T = formats.THIN_SPACE


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0, 0, "0"),
        (999, 0, "999"),
        (128741, 0, f"128{T}741"),
        (-1788, 0, f"-1{T}788"),
        (2.5, 0, "3"),
        (-0.2, 0, "0"),
        (Decimal("1234.565"), 2, f"1{T}234.57"),
    ],
)
def test_number(value: float | Decimal, decimals: int, text: str) -> None:
    assert formats.number(value, decimals) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.000001, "< 0.01"),
        (0.004, "< 0.01"),
        (0.01, "0.010"),
        (Decimal("0.034"), "0.034"),
        (0.5, "0.50"),
        (1, "1.0"),
        (6.24, "6.2"),
        (9.96, "10.0"),
        (10.4, "10"),
        (72200, f"72{T}200"),
    ],
)
def test_gpu_hours_have_no_false_precision(value: float, text: str) -> None:
    assert formats.gpu_hours(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, f"0{T}B"),
        (1023, f"1{T}023{T}B"),
        (80 * 2**30, f"80{T}GiB"),
        (1.5 * 2**40, f"1.5{T}TiB"),
        (2**62, f"4{T}096{T}PiB"),
    ],
)
def test_byte_size(value: float, text: str) -> None:
    assert formats.byte_size(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 m"),
        (3599, "59 m"),
        (3600, "1 h"),
        (12000, "3 h 20 m"),
        (86400, "1 d"),
        (187200, "2 d 4 h"),
        (-12000, "-3 h 20 m"),
        (-0.5, "0 s"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("distance", "text"),
    [
        (timedelta(seconds=-59), "just now"),
        (timedelta(seconds=1), "in under a minute"),
        (timedelta(minutes=-11), "11 min ago"),
        (timedelta(hours=-23, minutes=-59), "23 h ago"),
        (timedelta(days=-5), "5 d ago"),
        (timedelta(days=6), "in 6 d"),
        (timedelta(days=-31), "9 May"),
        (timedelta(days=-365), "9 Jun 2025"),
    ],
)
def test_relative_instant(distance: timedelta, text: str) -> None:
    assert formats.relative_instant(NOW + distance, NOW, SHANGHAI) == text


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "Tue 9 June 2026, 06:20:06 UTC"),
        ("Asia/Shanghai", "Tue 9 June 2026, 14:20:06 UTC+8"),
        ("Asia/Kolkata", "Tue 9 June 2026, 11:50:06 UTC+5:30"),
        ("America/St_Johns", "Tue 9 June 2026, 03:50:06 UTC-2:30"),
        ("America/New_York", "Tue 9 June 2026, 02:20:06 UTC-4"),
    ],
)
def test_exact_instant_names_its_offset(zone: str, text: str) -> None:
    assert formats.exact_instant(NOW, ZoneInfo(zone)) == text


def test_an_instant_in_a_sentence_is_to_the_minute() -> None:
    assert formats.said_instant(NOW, SHANGHAI) == "Tue 9 June 2026, 14:20 UTC+8"


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (NOW, "9 Jun, 14:20:06"),
        (datetime(2025, 12, 31, 15, 59, 59, tzinfo=UTC), "31 Dec 2025, 23:59:59"),
        (datetime(2025, 12, 31, 16, tzinfo=UTC), "1 Jan, 00:00:00"),
    ],
)
def test_short_instant_names_the_year_only_where_it_differs(at: datetime, text: str) -> None:
    assert formats.short_instant(at, NOW, SHANGHAI) == text
