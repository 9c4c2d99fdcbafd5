"""The organisation's policy: who may change it, what is asked before, and that it holds from the next decision on."""

from dataclasses import replace
from fractions import Fraction

import pytest
from django.test import Client

from accounts.tests import factories as people
from kernel.errors import Conflict, Forbidden, Invalid
from kernel.models import AuditEntry
from scheduling import services
from scheduling.models import SchedulingPolicy
from scheduling.policy import BOUNDS, Choices, policy_now
from scheduling.policy_form import PolicyForm, initial_of
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db

PAGE = "/scheduling/policy"


@pytest.fixture
def admin() -> Client:
    return people.browser(make.admin())


def sent(**changes: object) -> dict[str, object]:
    """The form as it stands, with a reason, and these changes."""
    return {**initial_of(policy_now().choices, policy_now().version), "reason": "Because", **changes}


def test_without_a_row_the_defaults_hold() -> None:
    policy = policy_now()
    assert (policy.version, policy.choices) == (0, Choices())
    assert policy.choices.engine(300).usage_sensitivity == Fraction(1, 2)
    assert (policy.choices.weight_of("high"), policy.choices.rank_of("high")) == (Fraction(4), 2)
    assert (policy.choices.weight_of(None), policy.choices.rank_of(None)) == (Fraction(1), 0)


def test_a_change_is_a_new_version_and_on_record() -> None:
    services.policy_set(
        actor=make.admin(), choices=replace(Choices(), min_runtime_s=60), seen_version=0, reason="Short jobs"
    )
    assert policy_now().choices.min_runtime_s == 60
    entry = AuditEntry.objects.get(action="scheduling.policy_set")
    assert (entry.before, entry.after) == ({"min_runtime_s": 1800}, {"min_runtime_s": 60, "reason": "Short jobs"})


def test_who_saw_an_older_version_is_told() -> None:
    services.policy_set(actor=make.admin(), choices=replace(Choices(), min_runtime_s=60), seen_version=0)
    with pytest.raises(Conflict):
        services.policy_set(actor=make.admin(), choices=Choices(), seen_version=0)
    assert SchedulingPolicy.objects.count() == 1


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_every_choice_has_bounds(name: str) -> None:
    for value in (BOUNDS[name][0] - 1, BOUNDS[name][1] + 1):
        with pytest.raises(Invalid) as refusal:
            services.policy_set(actor=make.admin(), choices=replace(Choices(), **{name: value}), seen_version=0)
        assert set(refusal.value.errors) == {name}


def test_nobody_but_an_admin_changes_it() -> None:
    for someone in (people.person(), people.director(), people.auditor()):
        with pytest.raises(Forbidden):
            services.policy_set(actor=someone, choices=Choices(), seen_version=0)


def test_a_choice_that_the_row_does_not_know_has_its_default() -> None:
    SchedulingPolicy.objects.create(
        version=1, values={"min_runtime_s": 7, "gone": 1}, set_by=make.admin(), set_at="2030-01-01T00:00:00Z"
    )
    assert policy_now().choices == replace(Choices(), min_runtime_s=7)


def test_the_page_asks_names_each_change_and_then_saves(admin: Client) -> None:
    page = admin.get(PAGE).content.decode()
    assert 'name="min_runtime_s" value="30"' in page
    assert 'step="0.01"' not in page, "a browser would refuse seven days: it counts steps from the least value"
    asked = admin.post(PAGE, sent(min_runtime_s="45", half_life_s="3.5"))
    words = asked.content.decode()
    assert asked.status_code == 200
    assert "Minimum run time: 30 → 45 minutes" in words
    assert "Half-life of past use: 7 → 3.5 days" in words
    assert "High tier" not in words
    assert policy_now().version == 0
    done = admin.post(PAGE, sent(min_runtime_s="45", half_life_s="3.5", confirmed="on"))
    assert done.status_code == 302
    now = policy_now()
    assert (now.version, now.choices.min_runtime_s, now.choices.half_life_s) == (1, 45 * 60, 302_400)
    assert "Because" in admin.get(PAGE).content.decode()


def test_what_was_asked_for_survives_the_question() -> None:
    form = PolicyForm(sent(min_runtime_s="45"))
    assert form.is_valid()
    again = form.as_hidden()
    assert again.is_valid()
    assert (again.choices(), again.cleaned_data["reason"]) == (form.choices(), "Because")


def test_a_value_out_of_bounds_is_said_by_its_field(admin: Client) -> None:
    answer = admin.post(PAGE, sent(half_life_s="9999", interruptions_per_day="-1"))
    assert answer.status_code == 422
    assert policy_now().version == 0


def test_what_was_saved_can_be_saved_again(admin: Client) -> None:
    """100 s are 1.666… minutes: more decimals than the form takes."""
    assert admin.post(PAGE, sent(min_runtime_s="1.67", confirmed="on")).status_code == 302
    assert policy_now().choices.min_runtime_s == 100
    assert admin.post(PAGE, sent(half_life_s="3.5", confirmed="on")).status_code == 302
    assert (policy_now().choices.min_runtime_s, policy_now().choices.half_life_s) == (100, 302_400)


def test_the_least_value_is_one_that_the_form_takes(admin: Client) -> None:
    assert "greater than or equal to 0.05." in admin.post(PAGE, sent(half_life_s="0")).content.decode()
    assert admin.post(PAGE, sent(half_life_s="0.05", confirmed="on")).status_code == 302


def test_nothing_changed_is_nothing_saved(admin: Client) -> None:
    assert admin.post(PAGE, sent(confirmed="on")).status_code == 302
    assert policy_now().version == 0


def test_everybody_may_read_by_what_rules_jobs_start() -> None:
    for reader in (people.person(), people.director(), people.auditor()):
        page = people.browser(reader).get(PAGE)
        assert (page.status_code, "Put in force" in page.content.decode()) == (200, False)


def test_a_reason_is_text_whatever_it_holds(admin: Client) -> None:
    script = "<script>alert(1)</script>"
    asked = admin.post(PAGE, sent(min_runtime_s="45", reason=script)).content.decode()
    assert admin.post(PAGE, sent(min_runtime_s="45", reason=script, confirmed="on")).status_code == 302
    for page in (asked, admin.get(PAGE).content.decode()):
        assert script not in page
        assert "&lt;script&gt;alert(1)" in page
