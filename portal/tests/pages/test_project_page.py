"""What the page of one project says over time, in money, and in states that are not active."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from accounts.tests import factories as people
from inventory.services import PriceSpec, price_set
from kernel import clock
from kernel.intervals import Interval
from monitoring.engine.series import Window
from monitoring.selectors.days import models_days
from portal.pages.cost import Spent
from portal.pages.project.pace import at_this_pace
from portal.pages.project.use import held_by_model
from portal.tests.pages import world
from projects.content import content_hash
from projects.services import project_decide
from projects.tests import factories as registry
from scheduling import services
from scheduling.selectors.pieces import Piece
from scheduling.selectors.unseen import joined
from scheduling.tests import factories

pytestmark = pytest.mark.django_db
NOON = datetime(2030, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
STEP = timedelta(minutes=5)
"""Of the chart of 24 hours. So much later, a job that runs has held its GPUs all through the newest step."""


def piece(start: datetime, until: datetime, *, milli: int = 1000, model: int = 1) -> Piece:
    return Piece(1, 1, False, milli, start, start, until, model)


def used(where: world.World, asked: str = "24h") -> dict[str, Any]:
    answer: dict[str, Any] = people.browser(where.lead).get(f"/projects/{where.project.pk}/use?use={asked}").json()
    return answer


def test_gpus_held_are_means_of_each_step() -> None:
    window = Window.covering(NOON, NOON + 3 * HOUR, 3600)
    pieces = [piece(NOON, NOON + HOUR * 1.5), piece(NOON + HOUR, NOON + 2 * HOUR, milli=500), piece(NOON, NOON + HOUR)]
    assert held_by_model(pieces, window, NOON + 3 * HOUR) == {1: [2.0, 1.0, 0.0]}


def test_the_step_that_is_not_over_counts_up_to_now() -> None:
    window = Window.covering(NOON, NOON + HOUR, 3600)
    now = NOON + timedelta(minutes=15)
    assert held_by_model([piece(NOON, now)], window, now) == {1: [1.0]}


def test_use_is_told_with_guarantee_and_limit() -> None:
    where = world.make()
    with clock.frozen(clock.now() + STEP):
        answer = used(where)
    assert [row["label"] for row in answer["series"]] == ["H100"]
    assert answer["series"][0]["values"][-1] == 2
    assert [(line["kind"], line["values"][-1]) for line in answer["lines"]] == [("guaranteed", 4), ("limit", 8)]
    assert answer["lines"][0]["values"][0] is None
    assert answer["gaps"] == []
    assert used(where, "90d")["step_s"] == 21600
    assert used(where, "nonsense")["step_s"] == 1800
    assert people.browser(people.person()).get(f"/projects/{where.project.pk}/use").status_code == 404


def test_a_silent_node_is_a_gap_and_its_gpus_stay_held() -> None:
    where = world.make()
    factories.fall_silent(where.node)
    services.members_lose_sight()
    with clock.frozen(clock.now() + STEP):
        answer = used(where)
    assert len(answer["gaps"]) == 1
    assert answer["series"][0]["values"][-1] == 2


def test_spans_that_touch_are_one() -> None:
    spans = [(NOON + HOUR, NOON + 2 * HOUR), (NOON, NOON + HOUR), (NOON + 3 * HOUR, NOON + 9 * HOUR)]
    assert joined(spans, NOON + 4 * HOUR) == [
        Interval(NOON, NOON + 2 * HOUR),
        Interval(NOON + 3 * HOUR, NOON + 4 * HOUR),
    ]


def test_utilisation_over_days_knows_what_was_held_and_nothing_else() -> None:
    where = world.make()
    now = clock.now()
    with clock.frozen(now + timedelta(minutes=5)):
        found = models_days([where.project.pk], clock.now() - timedelta(days=2), clock.now())
    [days] = found.values()
    assert len(days.values) == 42
    assert days.values[0] is None
    assert days.mean_pct is None or days.mean_pct == pytest.approx(91)


def test_the_cost_of_a_month_by_model_and_what_has_no_price() -> None:
    where = world.make()
    address = f"/projects/{where.project.pk}/cost"
    with clock.frozen(clock.now() + 2 * HOUR):
        page = people.browser(where.lead).get(address).content.decode()
    assert "GPU-hours without a price" in page
    assert ">4.0<" in page.replace("\n", "")
    price_set(actor=people.admin(), node_id=where.node.node.pk, price=PriceSpec(Decimal("2.50"), "USD"))
    with clock.frozen(clock.now() + 2 * HOUR):
        page = people.browser(where.lead).get(address).content.decode()
        file = people.browser(where.lead).get(f"{address}/csv").content.decode()
    assert '<th scope="col" class="num">USD</th>' in page
    assert ',10.0000,"USD"' in file
    head = file.splitlines()[0].lstrip("\ufeff").replace('"', "")
    assert head == "month,gpu_model,gpu_hours,gpu_hours_without_price,cost,currency"


def test_a_pace_needs_a_day_and_every_price() -> None:
    first = datetime(2030, 4, 1, tzinfo=UTC)
    with clock.frozen(first + timedelta(days=3)):
        assert at_this_pace(Spent({"USD": Decimal(30)}), first.date()) == {"USD": Decimal(300)}
        assert at_this_pace(Spent({"USD": Decimal(30)}, unpriced=1), first.date()) == {}
    with clock.frozen(first + timedelta(hours=3)):
        assert at_this_pace(Spent({"USD": Decimal(30)}), first.date()) == {}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (registry.draft_project, "Ready to be submitted"),
        (registry.submitted_project, "Waits for a decision"),
        (registry.rejected_project, "Rejected"),
        (registry.suspended_project, "Suspended for now"),
        (registry.closed_project, "Closed for good"),
    ],
)
def test_each_state_says_what_it_means(make: Any, said: str) -> None:
    lead = people.person("some-lead")
    page = people.browser(lead).get(f"/projects/{make(lead=lead).pk}").content.decode()
    assert said in page
    assert "Ready to be submitted" not in people.browser(lead).get(f"/projects/{_active(lead)}").content.decode()


def _active(lead: Any) -> int:
    return registry.active_project(lead=lead, name="The active one").pk


def test_a_returned_registration_shows_the_question() -> None:
    lead = people.person("asked-lead")
    project = registry.submitted_project(lead=lead)
    project_decide(answer="return", actor=registry.admin(), project_id=project.pk, reason="Which baseline?")
    page = people.browser(lead).get(f"/projects/{project.pk}").content.decode()
    assert "The approver asks before deciding" in page
    assert "Which baseline?" in page
    assert "Answer and submit again" in page
    assert "Answer the question on" in page


def test_who_asks_is_told_with_whom_the_project_is() -> None:
    project = registry.submitted_project(name="Asked about")
    sent = {"answer": "return", "comment": "Whose data?", "seen": content_hash(project), "version": 1}
    browser: Any = people.browser(people.director())
    decision = browser.get(f"/projects/{project.pk}/decide")["Location"]
    answer = browser.post(f"{decision}/vote", sent, follow=True)
    assert "Asked back: Asked about" in answer.content.decode()


def test_reclassifying_is_never_the_primary_button() -> None:
    project = registry.active_project()
    browser: Any = people.browser(people.admin())
    text = browser.get(f"/projects/{project.pk}/suitability").content.decode()
    assert f'<a class="btn" href="/projects/{project.pk}/edit">Reclassify' in text
