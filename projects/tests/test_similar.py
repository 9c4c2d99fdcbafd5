"""Registrations that are alike are found with the words that they share; nobody learns of one that they may not see."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.tests import factories as people
from projects import policies, services
from projects.models import Project
from projects.similar import Similar, pieces, similar_to, terms
from projects.tests import factories

pytestmark = pytest.mark.django_db


def find(name: str, goal: str = "", datasets: tuple[str, ...] = ()) -> list[Similar]:
    return similar_to(name=name, goal=goal, datasets=datasets, among=Project.objects.all())


@pytest.fixture
def registered() -> list[Project]:
    names = [
        ("Protein dynamics at long range", "Fold proteins with interactions over long distances."),
        ("Weather emulator", "Fifty members for the price of one."),
        ("蛋白质结构预测", "用扩散模型预测蛋白质的三维结构。"),
        ("基于深度学习的遥感影像语义分割", "把遥感影像分成地物类别。"),
        ("Sparse attention kernels", "Find out what 2:4 sparsity saves."),
    ]
    return [factories.draft_project(name=name, goal=goal, datasets=["corpora/web"]) for name, goal in names]


@pytest.mark.parametrize(
    ("name", "found", "word"),
    [
        ("Protein dynamics", "Protein dynamics at long range", "Protein"),
        ("Long-range dynamics of proteins", "Protein dynamics at long range", "dynamics"),
        ("Wether emulatr", "Weather emulator", ""),
        ("WEATHER EMULATION", "Weather emulator", "WEATHER"),
        ("蛋白质结构生成模型", "蛋白质结构预测", "蛋白质结构"),
        ("遥感影像分割", "基于深度学习的遥感影像语义分割", "遥感影像分割"),
        ("高分辨率遥感影像语义分割的新方法", "基于深度学习的遥感影像语义分割", "遥感影像语义分割"),
    ],
)
def test_like_names_are_found_and_say_what_they_share(
    name: str, found: str, word: str, registered: list[Project]
) -> None:
    (first, *_others) = find(name)
    assert first.project.name == found
    assert not word or word in first.words


@pytest.mark.parametrize(
    "name", ["Battery catalysts", "金融风控", "", "   ", "的", "!!!", "x" * 200, "'; DROP TABLE x; --"]
)
def test_what_has_nothing_in_common_finds_nothing(name: str, registered: list[Project]) -> None:
    assert find(name) == []


def test_a_goal_and_datasets_in_common_make_two_more_alike(registered: list[Project]) -> None:
    (alone,) = find("Emulator of tides and weather")
    (with_goal,) = find("Emulator of tides and weather", goal="Fifty members for the price of one")
    assert with_goal.score > alone.score
    shared = find("Battery", datasets=("corpora/web",))
    assert {one.project.name for one in shared} == {project.name for project in registered}
    assert shared[0].datasets == ["corpora/web"]


def test_nobody_learns_of_a_project_that_they_may_not_see(registered: list[Project]) -> None:
    stranger = people.person()
    assert similar_to(name="Protein dynamics", among=policies.visible_to(stranger)) == []
    own = factories.draft_project(lead=stranger, name="Protein dynamics of mine")
    found = similar_to(name="Protein dynamics", among=policies.visible_to(stranger))
    assert [one.project for one in found] == [own]


def test_the_project_itself_is_left_out_and_the_lead_is_there(registered: list[Project]) -> None:
    twin = factories.draft_project(name="Protein dynamics at longer range")
    (one,) = similar_to(name=twin.name, among=Project.objects.all(), exclude=twin.pk)
    assert one.project == registered[0]
    assert [row.person for row in one.project.live_leads] == [registered[0].created_by]  # type: ignore[attr-defined]


def test_it_costs_two_statements_and_gives_no_more_than_the_limit() -> None:
    for index in range(8):
        factories.draft_project(name=f"Protein dynamics {index}")
    with CaptureQueriesContext(connection) as captured:
        found = similar_to(name="Protein dynamics", datasets=["x"], among=Project.objects.all(), limit=3)
    assert len(found) == 3
    assert len(captured) == 2


def test_a_name_that_changes_is_found_under_its_new_one() -> None:
    project = factories.draft_project(name="Protein dynamics")
    services.project_edit(actor=project.created_by, project_id=project.pk, changes={"name": "遥感影像分割"})
    assert [one.project for one in find("遥感影像")] == [project]
    assert find("Protein dynamics") == []


def test_pieces_are_few_and_words_are_those_that_mean_something() -> None:
    assert pieces("Retrieval for the translation of speech")[1:] == ["Retrieval translation", "translation speech"]
    assert len(pieces("a long name of many words that never ends " * 5)) == 5
    assert terms("The models of Proteins, protein structure") == ["protein", "structure"]
    assert terms("基于扩散模型") == ["于扩", "扩散", "散模"]


def test_of_what_is_longer_than_a_name_only_the_beginning_is_looked_for(registered: list[Project]) -> None:
    endless = "Protein dynamics at long range" + " " * 200 + "weather emulator " * 20_000
    with CaptureQueriesContext(connection) as statements:
        assert [one.project for one in find(endless)] == registered[:1]
    assert max(len(statement["sql"]) for statement in statements) < 20_000
