"""Research areas: the tree with its figures, and who may change it."""

import pytest
from django.test import Client

from accounts.tests import factories as people
from kernel.models import AuditEntry
from portal.pages.areas import Figures, tree
from projects.models import ResearchArea
from projects.tests import factories as registry
from scheduling.tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Client:
    return people.browser(people.admin())


def area(name: str, within: ResearchArea | None = None) -> ResearchArea:
    return ResearchArea.objects.create(name=name, title=name.capitalize(), parent=within)


def test_figures_of_an_area_include_the_areas_within() -> None:
    physics = area("physics")
    plasma = area("plasma", physics)
    area("biology")
    rows = tree(list(ResearchArea.objects.order_by("title")), {plasma.pk: Figures(projects=2, guaranteed=8, used=3.0)})
    told = [(row.area.name if row.area else "", row.depth, row.figures.projects) for row in rows]
    assert told == [("biology", 0, 0), ("physics", 0, 2), ("plasma", 1, 2)]
    assert rows[1].figures.guaranteed == 8


def test_the_page_counts_projects_and_leads_to_the_table(admin: Client) -> None:
    factories.node("alpha", gpus=8)
    project = registry.active_project(name="Fusion")
    project.area = area("plasma", area("physics"))
    project.save(update_fields=["area"])
    factories.grant(project, 4, 8)
    page = admin.get("/projects/areas").content.decode()
    assert 'href="/projects?area=plasma"' in page or 'href="/projects/?area=plasma"' in page
    assert "0 used, 4 guaranteed, limit 4" in page
    stranger = people.browser(people.person()).get("/projects/areas").content.decode()
    assert "0 used, 4 guaranteed" not in stranger
    assert "Add an area" not in stranger


def test_an_area_is_renamed_and_moved_but_not_into_itself(admin: Client) -> None:
    physics = area("physics")
    plasma = area("plasma", physics)
    assert admin.post(f"/projects/areas/{plasma.pk}/edit", {"title": "Hot gas", "parent": ""}).status_code == 302
    plasma.refresh_from_db()
    assert (plasma.title, plasma.parent) == ("Hot gas", None)
    assert AuditEntry.objects.get(action="area.changed").before == {"title": "Plasma", "parent": "physics"}
    admin.post(f"/projects/areas/{plasma.pk}/edit", {"title": "Hot gas", "parent": "physics"})
    refused = admin.post(f"/projects/areas/{physics.pk}/edit", {"title": "Physics", "parent": "plasma"})
    assert refused.status_code == 422
    assert "lies within “Physics” itself" in refused.content.decode()
    assert admin.post(f"/projects/areas/{physics.pk}/edit", {"title": " "}).status_code == 422


def test_an_area_goes_only_when_nothing_stands_in_it(admin: Client) -> None:
    physics = area("physics")
    plasma = area("plasma", physics)
    project = registry.active_project()
    project.area = plasma
    project.save(update_fields=["area"])
    page = admin.post(f"/projects/areas/{plasma.pk}/delete", follow=True).content.decode()
    assert "1 project stands in it." in page
    page = admin.post(f"/projects/areas/{physics.pk}/delete", follow=True).content.decode()
    assert "1 area lies within it." in page
    project.area = None
    project.save(update_fields=["area"])
    assert admin.post(f"/projects/areas/{plasma.pk}/delete").status_code == 302
    assert not ResearchArea.objects.filter(pk=plasma.pk).exists()
    before = AuditEntry.objects.get(action="area.deleted").before
    assert before is not None
    assert before["name"] == "plasma"


def test_a_name_with_a_script_stays_text(admin: Client) -> None:
    ResearchArea.objects.create(name="evil", title="<script>alert(1)</script>")
    assert "<script>alert(1)" not in admin.get("/projects/areas").content.decode()
