"""The pages of an import, and its API: what each state shows, and that text stays text."""

import base64
import csv
import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from accounts.tests import factories as people
from projects import services
from projects.imports import work
from projects.models import Project, ProjectImport
from projects.tests import factories
from projects.tests import import_factories as imports

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert('x')</script>"


@pytest.fixture
def owner() -> Person:
    factories.gpu_model("h100")
    return people.person("ada")


def upload(browser: Client, content: bytes, name: str = "projects.csv") -> Any:
    return browser.post("/projects/import/", {"file": SimpleUploadedFile(name, content)})


def page_of(browser: Client, made: ProjectImport, query: str = "") -> str:
    answer = browser.get(f"/projects/import/{made.pk}{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_faulty_file_is_refused_mended_and_imported(owner: Person) -> None:
    browser = people.browser(owner)
    first = upload(browser, b"name,stage\nGood,training\nBad,nowhere\n")
    made = ProjectImport.objects.get()
    assert first["Location"] == f"/projects/import/{made.pk}"
    assert "Reading the file." in page_of(browser, made)
    poll = browser.get(first["Location"], headers={"HX-Request": "true"})
    assert "HX-Refresh" not in poll.headers
    assert "<html" not in poll.content.decode()
    work.check(made.pk)
    assert browser.get(first["Location"], headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    page = page_of(browser, made)
    assert "CSV, UTF-8, comma" in page
    assert "“nowhere” is not one of: exploration" in page
    assert page.index("nowhere") < page.index(">Good<")
    assert "Leave the 1 refused row out" in page
    assert "Import 1 project<" in page
    refused = browser.post(f"/projects/import/{made.pk}/apply", follow=True)
    assert "1 rows are refused" in refused.content.decode()
    upload(browser, b"name,stage\nGood,training\nBad,evaluation\n")
    mended = ProjectImport.objects.latest("id")
    work.check(mended.pk)
    assert "Import 2 projects<" in page_of(browser, mended)
    browser.post(f"/projects/import/{mended.pk}/apply")
    assert "Importing. All of it is written at once" in page_of(browser, mended)
    work.apply(mended.pk)
    done = page_of(browser, mended)
    assert "Imported: 2 new, 0 changed." in done
    assert f'href="/projects/{Project.objects.get(name="Good").pk}"' in done
    assert "Discard what was imported" in done


def test_undo_asks_once_and_says_what_it_left(owner: Person) -> None:
    browser, made = people.browser(owner), imports.applied(owner, b"name\nOne\nTwo\n")
    services.project_edit(
        actor=owner, project_id=Project.objects.get(name="Two").pk, changes={"goal": "Somebody cares"}
    )
    asked = browser.get(f"/projects/import/{made.pk}/undo").content.decode()
    assert "Discard 2 imported projects?" in asked
    browser.post(f"/projects/import/{made.pk}/undo")
    work.undo(made.pk)
    page = page_of(browser, made)
    assert "What was imported is closed again." in page
    assert "1 projects were left as they are" in page


def test_changes_are_shown_before_and_after(owner: Person) -> None:
    project = factories.draft_project(lead=owner, goal="Old goal")
    made = imports.checked(owner, f"id,goal\n{project.pk},New goal\n".encode())
    page = page_of(people.browser(owner), made)
    assert "<del>Old goal</del>" in page
    assert "<ins>New goal</ins>" in page


def test_rows_are_narrowed_by_their_result(owner: Person) -> None:
    browser, made = people.browser(owner), imports.checked(owner, imports.FAULTY)
    assert "From a file" not in page_of(browser, made, "?kind=refused")
    assert "Not yet" not in page_of(browser, made, "?kind=new")
    assert "No row of this file came out like this." in page_of(browser, made, "?kind=unchanged")
    assert "Not yet" in page_of(browser, made, "?kind=nonsense")


def test_a_long_report_costs_no_more_statements_than_a_short_one(owner: Person) -> None:
    browser = people.browser(owner)
    short, long = (imports.checked(owner, b"name\n" + b"".join(b"P%d\n" % n for n in range(rows))) for rows in (2, 250))

    def cost(made: ProjectImport) -> int:
        page_of(browser, made)
        with CaptureQueriesContext(connection) as captured:
            page_of(browser, made)
        return len(captured)

    assert cost(long) == cost(short) <= 12


def test_text_of_the_file_stays_text(owner: Person) -> None:
    head = f'name,stage,"{SCRIPT}"'
    content = f'{head}\n"{SCRIPT}","{SCRIPT}",x\n'.encode()
    browser = people.browser(owner)
    for name in ("plain.csv", f"{SCRIPT}.csv"):
        made = imports.checked(owner, content, file_name=name)
        assert SCRIPT not in page_of(browser, made)
        browser.post(f"/projects/import/{made.pk}/check", {"ignores_unknown": "1"})
        work.check(made.pk)
        page = page_of(browser, made)
        assert SCRIPT not in page
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in page
    assert SCRIPT not in browser.get("/projects/import").content.decode()


def test_unknown_columns_are_named_and_can_be_ignored(owner: Person) -> None:
    browser, made = people.browser(owner), imports.checked(owner, b"name,Colour\nA,red\n")
    page = page_of(browser, made)
    assert "There are no such columns: “Colour”." in page
    assert "Check again without these columns" in page
    browser.post(f"/projects/import/{made.pk}/check", {"ignores_unknown": "1"})
    work.check(made.pk)
    assert "ignored columns: Colour" in page_of(browser, made)


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "The file is empty."), (b"x" * (8 * 2**20 + 1), "at most 8 MiB are allowed")]
)
def test_a_file_that_cannot_be_taken_is_said_at_the_field(owner: Person, content: bytes, said: str) -> None:
    answer = upload(people.browser(owner), content)
    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_the_report_as_a_file_is_safe_to_open(owner: Person) -> None:
    made = imports.checked(owner, b"name,stage\n=1+1,=2+2\n@x,\n")
    answer = people.browser(owner).get(f"/projects/import/{made.pk}/report")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert [(row["Row"], row["Result"], row["Name"], row["Value"]) for row in rows] == [
        ("2", "Refused", "'=1+1", "'=2+2"),
        ("3", "New", "'@x", ""),
    ]


def test_the_files_to_download(owner: Person) -> None:
    project = factories.draft_project(lead=owner, name="=1+1")
    factories.draft_project(name="Of somebody else")
    browser = people.browser(owner)
    editing = browser.get("/projects/import/editing/csv").content.decode("utf-8-sig")
    assert [row["name"] for row in csv.DictReader(io.StringIO(editing))] == ["'=1+1"]
    assert str(project.pk) in editing
    for name in ("template", "editing"):
        assert browser.get(f"/projects/import/{name}/xlsx").content.startswith(b"PK")


def test_the_way_through_the_api(owner: Person) -> None:
    client = people.api_client(owner)
    content = base64.b64encode(imports.FAULTY).decode()
    made = client.post("/api/v1/project-imports/", {"file_name": "a.csv", "content": content})
    assert (made.status_code, made.json()["state"]) == (201, "uploaded")
    address = f"/api/v1/project-imports/{made.json()['id']}"
    work.check(made.json()["id"])
    found = client.get(address).json()
    assert (found["state"], found["new"], found["refused"], found["delimiter"]) == ("checked", 1, 1, ",")
    refused, new = client.get(f"{address}/rows/").json()["results"]
    assert (refused["row"], refused["faults"][0]["column"], refused["faults"][0]["value"]) == (3, "stage", "nowhere")
    assert new["changes"][0] == {"field": "name", "before": "", "after": "From a file"}
    assert client.get(f"{address}/rows/?kind=nonsense").status_code == 422
    assert client.post(f"{address}/apply/").status_code == 409
    assert client.post(f"{address}/apply/", {"leave_out_refused": True}).json()["state"] == "applying"
    work.apply(made.json()["id"])
    assert client.get(address).json()["state"] == "applied"
    assert client.post(f"{address}/discard/").status_code == 409


def test_what_is_no_base64_is_refused(owner: Person) -> None:
    answer = people.api_client(owner).post("/api/v1/project-imports/", {"file_name": "a.csv", "content": "***"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["content"])
