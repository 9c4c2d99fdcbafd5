"""The cache holds plain values, and runs nothing that somebody else put there."""

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from redis import Redis

KEY = "kernel-test"


@pytest.fixture(autouse=True)
def clean() -> Any:
    cache.delete(KEY)
    yield
    cache.delete(KEY)


@pytest.mark.parametrize("value", [1, -5, 0, True, False, 1.5, "text", "", [1, "a"], {"a": None}, "12"])
def test_plain_values_come_back_as_they_were(value: object) -> None:
    cache.set(KEY, value)
    found = cache.get(KEY)
    assert found == value
    assert type(found) is type(value)


def test_numbers_can_be_counted_up() -> None:
    cache.set(KEY, 1)
    cache.incr(KEY)
    assert cache.get(KEY) == 2


def test_what_is_no_json_is_refused_when_written() -> None:
    with pytest.raises(TypeError):
        cache.set(KEY, object())


class _Command:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def test_a_foreign_entry_runs_nothing_and_is_not_there(tmp_path: Path) -> None:
    made = tmp_path / "made"
    redis = Redis.from_url(str(settings.CACHES["default"]["LOCATION"]))
    for foreign in (pickle.dumps(_Command(made)), b"[" * 100_000, b"\xff", b""):
        redis.set(cache.make_key(KEY), foreign)
        assert cache.get(KEY) is None
    assert not made.exists()


def test_every_installation_reads_it_so() -> None:
    for name in ("local", "production", "test"):
        text = (settings.BASE_DIR / "portal" / "settings" / f"{name}.py").read_text()
        assert '"OPTIONS": {"serializer": "kernel.cache.JsonSerializer"}' in text, name
