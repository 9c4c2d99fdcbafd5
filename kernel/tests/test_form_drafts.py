"""Forms saved as one types: what is kept, for whom, how two pages meet, and when it goes."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth import get_user_model

from kernel import clock, form_drafts, retention
from kernel.errors import Invalid, NotFound, TooLarge
from kernel.form_drafts import ContinuedElsewhere, Kind, TooManyDrafts, Typed
from kernel.models import FormDraft

FORM = "garden.plan"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def garden(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(form_drafts, "_kinds", {})
    kind = Kind(
        title=lambda draft: form_drafts.first(draft.data, "name") or "a plan",
        address=lambda draft: f"/plans/new?draft={draft.key}",
        start=lambda draft: "/plans/new",
    )
    form_drafts.describe(FORM, kind)
    yield


def person(name: str = "ada") -> int:
    return int(get_user_model()._default_manager.create(username=name).pk)


def typed(name: str = "Beans", **more: Any) -> Typed:
    return Typed(FORM, {"name": [name]}, **more)


@pytest.mark.django_db
def test_what_was_typed_is_kept_as_it_stands_and_listed() -> None:
    owner, key = person(), uuid4()
    data = {"name": ["<b> 12 x"], "rows-0-when": ["next spring"], "tags": ["a", "b"]}
    assert form_drafts.save(owner_id=owner, key=key, typed=Typed(FORM, data)).version == 1
    assert form_drafts.one(owner, key).data == data
    (line,) = form_drafts.unfinished(owner)
    assert (line.title, line.address) == ("<b> 12 x", f"/plans/new?draft={key}")


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["csrfmiddlewaretoken", "password", "new_password1", "api-token", "client_secret"])
def test_nothing_secret_is_kept(name: str) -> None:
    owner, key = person(), uuid4()
    form_drafts.save(owner_id=owner, key=key, typed=Typed(FORM, {"name": ["x"], name: ["hidden"]}))
    assert "hidden" not in json.dumps(form_drafts.one(owner, key).data)


@pytest.mark.django_db
def test_a_page_saves_over_the_version_it_knows_and_no_other() -> None:
    owner, key = person(), uuid4()
    form_drafts.save(owner_id=owner, key=key, typed=typed("one", writer="here"))
    assert form_drafts.save(owner_id=owner, key=key, typed=typed("two", version=1, writer="there")).version == 2
    with pytest.raises(ContinuedElsewhere) as refused:
        form_drafts.save(owner_id=owner, key=key, typed=typed("three", version=1, writer="here"))
    assert refused.value.data["version"] == 2
    assert form_drafts.one(owner, key).data == {"name": ["two"]}
    # A page whose answer was lost knows an older version of its own making.
    assert form_drafts.save(owner_id=owner, key=key, typed=typed("four", version=1, writer="there")).version == 3


@pytest.mark.django_db
def test_nobody_reaches_another_persons_draft() -> None:
    owner, other, key = person(), person("eve"), uuid4()
    form_drafts.save(owner_id=owner, key=key, typed=typed())
    for version in (0, 1):
        with pytest.raises(NotFound):
            form_drafts.save(owner_id=other, key=key, typed=typed("mine", version=version, writer="x"))
    with pytest.raises(NotFound):
        form_drafts.one(other, key)
    with pytest.raises(NotFound):
        form_drafts.discard(owner_id=other, key=key)
    assert form_drafts.unfinished(other) == []
    assert form_drafts.one(owner, key).data == {"name": ["Beans"]}


@pytest.mark.django_db
def test_what_was_sent_or_discarded_does_not_come_back() -> None:
    owner, key = person(), uuid4()
    form_drafts.save(owner_id=owner, key=key, typed=typed(writer="w"))
    form_drafts.finish(owner_id=owner, key=key, form=FORM)
    with pytest.raises(NotFound):
        form_drafts.save(owner_id=owner, key=key, typed=typed("late", version=1, writer="w"))
    assert not FormDraft.objects.exists()


@pytest.mark.django_db
def test_sending_a_form_about_something_ends_every_draft_about_it() -> None:
    owner, other = person(), person("eve")
    for who, subject in ((owner, "plan:1"), (owner, "plan:1"), (owner, "plan:2"), (other, "plan:1")):
        form_drafts.save(owner_id=who, key=uuid4(), typed=typed(subject=subject))
    form_drafts.finish(owner_id=owner, key=uuid4(), form=FORM, subject="plan:1")
    left = FormDraft.objects.order_by("subject").values_list("owner_id", "subject")
    assert sorted(left) == sorted([(owner, "plan:2"), (other, "plan:1")])


@pytest.mark.django_db
def test_bounds_are_said() -> None:
    owner, key = person(), uuid4()
    with pytest.raises(TooLarge):
        form_drafts.save(owner_id=owner, key=key, typed=typed("面" * (form_drafts.MAX_BYTES // 3)))
    for text in ("a\0b", "\ud800"):
        with pytest.raises(Invalid):
            form_drafts.save(owner_id=owner, key=key, typed=typed(text))
    with pytest.raises(Invalid):
        form_drafts.save(owner_id=owner, key=key, typed=Typed("kitchen.plan", {}))
    for _number in range(form_drafts.MAX_DRAFTS):
        form_drafts.save(owner_id=owner, key=uuid4(), typed=typed())
    with pytest.raises(TooManyDrafts):
        form_drafts.save(owner_id=owner, key=key, typed=typed())
    assert form_drafts.save(owner_id=person("eve"), key=key, typed=typed()).version == 1


@pytest.mark.django_db
def test_a_draft_is_kept_for_ninety_days_after_its_last_change() -> None:
    owner, key = person(), uuid4()
    with clock.frozen(NOON - timedelta(days=40)):
        form_drafts.save(owner_id=owner, key=key, typed=typed())
    with clock.frozen(NOON):
        form_drafts.save(owner_id=owner, key=key, typed=typed(version=1))
    assert retention.forget_old(NOON + retention.DRAFTS_KEPT) == 0
    assert retention.forget_old(NOON + retention.DRAFTS_KEPT + SECOND) == 1
    assert not FormDraft.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("known", [0, 1])
def test_of_two_pages_that_save_at_once_one_is_told(known: int, elsewhere: Callable[..., Future[Any]]) -> None:
    owner, key = person(), uuid4()
    if known:
        form_drafts.save(owner_id=owner, key=key, typed=typed(writer="before"))
    start = threading.Barrier(2)

    def saved(key: UUID, name: str) -> str:
        start.wait(10)
        try:
            form_drafts.save(owner_id=owner, key=key, typed=typed(name, version=known, writer=name))
        except ContinuedElsewhere:
            return "told"
        return name

    answers = [elsewhere(saved, key, name).result for name in ("one", "two")]
    given = sorted(answer() for answer in answers)
    assert given in (["one", "told"], ["told", "two"])
    (winner,) = set(given) - {"told"}
    row = FormDraft.objects.get()
    assert (row.data, row.version) == ({"name": [winner]}, known + 1)
