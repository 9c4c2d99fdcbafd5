"""Quantities, dates and the frame in Chinese."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.test import Client
from django.utils.translation import override

from accounts.tests import factories as people
from kernel import formats

NOW = datetime(2026, 10, 3, 14, 5, tzinfo=UTC)
THIN = formats.THIN_SPACE


def spaced(text: str) -> str:
    return text.replace("~", THIN)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(42, "42~秒"), (60, "1~分"), (12_000, "3~小时 20~分"), (90_000, "1~天 1~小时"), (-120, "-2~分")],
)
def test_lengths_of_time(seconds: float, words: str) -> None:
    with override("zh-hans"):
        assert formats.duration(seconds) == spaced(words)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=5), "刚刚"),
        (timedelta(minutes=5), "5~分钟前"),
        (timedelta(hours=-3), "3~小时后"),
        (timedelta(days=40), "8~月~24~日"),
        (timedelta(days=400), "2025~年~8~月~29~日"),
    ],
)
def test_how_long_ago(before: timedelta, words: str) -> None:
    with override("zh-hans"):
        assert formats.relative_instant(NOW - before, NOW, UTC) == spaced(words)


def test_days_and_instants() -> None:
    with override("zh-hans"):
        assert formats.day(date(2026, 10, 3)) == spaced("2026~年~10~月~3~日")
        assert formats.short_day(date(2026, 10, 3)) == spaced("10~月~3~日")
        assert formats.full_day(date(2026, 10, 3)) == spaced("2026~年~10~月~3~日 星期六")
        assert formats.exact_instant(NOW, UTC) == spaced("2026~年~10~月~3~日 星期六 14:05:00 UTC")
        assert formats.said_instant(NOW, UTC) == spaced("2026~年~10~月~3~日 星期六 14:05 UTC")
        assert formats.short_instant(NOW, NOW, UTC) == spaced("10~月~3~日 14:05:00")
    assert formats.short_day(date(2026, 10, 3)) == "3 Oct"


def test_figures_are_written_as_in_english() -> None:
    with override("zh-hans"):
        assert formats.number(128_741) == spaced("128~741")
        assert formats.byte_size(80 * 2**30) == spaced("80~GiB")
        assert formats.gpu_hours(0.004) == "< 0.01"


@pytest.mark.django_db
def test_the_frame_is_chinese_and_offers_the_way_back() -> None:
    browser = people.browser(people.admin())
    page = browser.get("/", headers={"Accept-Language": "zh-CN"}).content.decode()
    assert '<html lang="zh-hans"' in page
    for words in ("首页", "项目", "作业", "配额", "集群", "节点", "人员", "审计日志", "退出登录"):
        assert words in page
    assert 'lang="en" aria-pressed="false"' in page
    sign_in = Client().get("/accounts/login", headers={"Accept-Language": "zh"}).content.decode()
    assert "用户名" in sign_in
    assert ">English</button>" in sign_in
