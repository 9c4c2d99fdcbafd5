"""Rules: the first that fits decides, and what is not known fits no bound."""

from hypothesis import given
from hypothesis import strategies as st

from approvals.preview import Past, Way, compare
from approvals.rules import Measures, Rule, StepRule, choose, missing_steps, never_by_itself, read, written

ADMIN, DIRECTOR = StepRule(("admin",)), StepRule(("director",), answer_hours=48, escalate_to=("admin",))
TIERS = ("high", "mid", "low")

numbers = st.integers(min_value=-10, max_value=400)
measures = st.builds(
    Measures,
    gpus=st.none() | numbers,
    share_percent=st.none() | st.floats(min_value=0, max_value=100),
    days=st.none() | st.integers(min_value=1, max_value=400),
    tier=st.none() | st.sampled_from(TIERS),
)
steps = st.lists(st.sampled_from([ADMIN, DIRECTOR]), max_size=3, unique=True).map(tuple)
rules = st.builds(
    Rule,
    name=st.sampled_from(["small", "short", "规则", "x" * 200]),
    steps=steps,
    most_gpus=st.none() | numbers,
    most_share_percent=st.none() | st.floats(min_value=0, max_value=100),
    most_days=st.none() | st.integers(min_value=1, max_value=400),
    tiers=st.lists(st.sampled_from(TIERS), unique=True).map(tuple),
)
policies = st.lists(rules, max_size=5).map(lambda found: (*found, Rule("rest", (ADMIN,))))


@given(rule=rules, measured=measures)
def test_a_bound_never_fits_what_is_not_known(rule: Rule, measured: Measures) -> None:
    unknown = (
        (rule.most_gpus is not None and measured.gpus is None)
        or (rule.most_share_percent is not None and measured.share_percent is None)
        or (rule.most_days is not None and measured.days is None)
        or (bool(rule.tiers) and measured.tier is None)
    )
    assert not (unknown and rule.fits(measured))


@given(policy=policies, measured=measures)
def test_rules_that_end_with_a_catch_all_always_decide_and_by_the_first_that_fits(
    policy: tuple[Rule, ...], measured: Measures
) -> None:
    chosen = choose(policy, measured)
    assert chosen.fits(measured)
    assert not any(rule.fits(measured) for rule in policy[: policy.index(chosen)])


@given(rule=rules, measured=measures, less=st.integers(min_value=0, max_value=50))
def test_asking_for_less_never_leaves_a_rule(rule: Rule, measured: Measures, less: int) -> None:
    gpus = None if measured.gpus is None else measured.gpus - less
    smaller = Measures(gpus, measured.share_percent, measured.days, measured.tier)
    assert rule.fits(smaller) or not rule.fits(measured)


@given(policy=policies)
def test_what_is_stored_is_read_as_it_was(policy: tuple[Rule, ...]) -> None:
    assert read(written(policy)) == policy


@given(have=steps, needed=steps)
def test_missing_steps_are_those_of_others(have: tuple[StepRule, ...], needed: tuple[StepRule, ...]) -> None:
    missing = missing_steps(have, needed)
    assert {step.who for step in missing} == {step.who for step in needed} - {step.who for step in have}


def test_bounds_are_included() -> None:
    rule = Rule("small", (), most_gpus=8, most_days=30)
    assert rule.fits(Measures(gpus=8, days=30))
    assert not rule.fits(Measures(gpus=9, days=30))
    assert not rule.fits(Measures(gpus=8, days=31))


# --- what other rules would have done

SMALL = Rule("small", (), most_gpus=8)
REST = Rule("rest", (ADMIN,))
PAST = [
    Past(1, "One", Measures(gpus=4), Way.of(SMALL)),
    Past(2, "Two", Measures(gpus=16), Way.of(REST)),
    Past(3, "Three", Measures(gpus=None), Way.of(REST)),
    Past(4, "Four", Measures(gpus=-4), Way.of(REST)),
]


def test_a_comparison_counts_what_would_have_passed_by_itself() -> None:
    found = compare((Rule("small", (), most_gpus=16), Rule("rest", (ADMIN, DIRECTOR))), PAST)
    assert [(one.past.title, one.would_be.steps) for one in found.changed] == [("Two", 0), ("Three", 2), ("Four", 0)]
    assert (found.automatic_before, found.automatic_then) == ((1, 4), (3, 20))
    assert found.moves == [(0, 0, 1), (1, 0, 2), (1, 2, 1)]


def test_the_same_rules_change_nothing() -> None:
    found = compare((SMALL, REST), PAST[:3])
    assert found.changed == []
    assert found.automatic_before == found.automatic_then


def test_as_many_steps_by_others_are_a_change() -> None:
    found = compare((SMALL, Rule("rest", (DIRECTOR,))), PAST[:3])
    assert [one.past.title for one in found.changed] == ["Two", "Three"]
    assert found.moves == [(0, 0, 1), (1, 1, 2)]


@given(policy=policies, asked=st.lists(measures, max_size=8))
def test_every_request_is_counted_once(policy: tuple[Rule, ...], asked: list[Measures]) -> None:
    ways = (Way("none"), Way.of(REST), Way("two", (ADMIN.who, DIRECTOR.who)))
    past = [Past(at, str(at), one, ways[at % 3]) for at, one in enumerate(asked)]
    found = compare(policy, past)
    assert sum(count for _before, _after, count in found.moves) == len(asked)
    assert len(found.changed) >= sum(count for before, after, count in found.moves if before != after)


@given(policy=policies, measured=measures)
def test_who_writes_the_rules_gets_nothing_by_them_alone(policy: tuple[Rule, ...], measured: Measures) -> None:
    usual, strict = choose(policy, measured), choose(never_by_itself(policy), measured)
    assert strict.steps or (usual.most_gpus is not None and usual.most_gpus <= 0)
    assert strict.steps == usual.steps or not usual.steps
