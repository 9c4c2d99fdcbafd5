"""Which decisions of before are like this one."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from portal.pages.approval.evidence.likeness import LOOKED_BACK, Decided, Traits, approved_of, is_like, like_cases

NOW = datetime(2026, 6, 15, tzinfo=UTC)
THIS = Traits("h100", "high", "training", 64)


def decided(pk: int, traits: Traits = THIS, days: int = 1, *, is_approved: bool = True) -> Decided:
    return Decided(pk, traits, NOW - timedelta(days=days), is_approved)


@pytest.mark.parametrize(("more", "expected"), [(31, False), (32, True), (64, True), (128, True), (129, False)])
def test_from_half_to_twice_as_many(more: int, expected: bool) -> None:
    assert is_like(THIS, replace(THIS, more=more)) is expected


def test_small_ones_are_all_of_a_size_but_not_in_both_directions() -> None:
    small = replace(THIS, more=1)
    assert is_like(small, replace(THIS, more=16))
    assert not is_like(small, replace(THIS, more=17))
    assert not is_like(small, replace(THIS, more=-1))


@pytest.mark.parametrize("same", ["gpu_model", "tier", "stage"])
def test_one_thing_in_common_is_enough(same: str) -> None:
    other = Traits("a100", "low", "production", 64)
    assert not is_like(THIS, other)
    assert is_like(THIS, replace(other, **{same: getattr(THIS, same)}))


def test_what_nobody_knows_is_not_in_common() -> None:
    assert not is_like(Traits("h100", "", "", 64), Traits("a100", "", "", 64))


def test_more_in_common_first_then_the_newest_and_nothing_older_than_nine_months() -> None:
    rows = [
        decided(1, replace(THIS, tier="low"), days=1),
        decided(2, days=20),
        decided(3, days=10),
        decided(4, days=LOOKED_BACK.days + 1),
    ]
    assert [row.id for row in like_cases(THIS, rows, NOW)] == [3, 2, 1]


def test_how_many_were_approved() -> None:
    assert approved_of([decided(1), decided(2, is_approved=False), decided(3)]) == 2
