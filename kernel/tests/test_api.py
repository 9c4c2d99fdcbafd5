"""What every list and every refusal of the API has in common, through a real view over HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest
from django import forms
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import override_settings
from django.urls import include, path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIClient

from kernel.api.router import PortalRouter
from kernel.api.views import PortalViewSet
from kernel.errors import Conflict, Forbidden, Invalid, NotFound, PortalError, Unauthenticated
from kernel.forms import add_errors
from kernel.problem import flatten
from kernel.tests.doors import Door

ERRORS: dict[str, Exception] = {
    "unauthenticated": Unauthenticated(),
    "forbidden": Forbidden("Not with that key.", data={"key": "rusty"}),
    "stranger": NotFound(),
    "django-404": Http404(),
    "django-403": PermissionDenied(),
    "conflict": Conflict(),
    "invalid": Invalid({"name": "too long", "size": ["a", "b"]}),
    "validation": serializers.ValidationError({"rows": [{}, {"size": ["wrong"]}]}),
}


class NewDoor(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=5)


class Doors(PortalViewSet):
    queryset = Door.objects.none()
    serializer_class = NewDoor
    ordering_fields = ("name", "colour")

    def list(self, request: Request) -> Response:
        if error := request.query_params.get("raise"):
            raise ERRORS[error]
        return self.listing(Door.objects.order_by("pk"), lambda rows: [row.name for row in rows])

    def create(self, request: Request) -> Response:
        return Response(self.parse(NewDoor), status=201)


router = PortalRouter()
router.register("doors", Doors, basename="door")
urlpatterns = [path("api/v1/", include(router.urls))]


@pytest.fixture
def client(door_tables: None) -> Iterator[APIClient]:
    caller = APIClient()
    caller.force_authenticate(get_user_model().objects.create(username="ada"))
    with override_settings(ROOT_URLCONF=__name__):
        yield caller


@pytest.fixture
def five(client: APIClient) -> APIClient:
    for name in "cabed":
        Door.objects.create(name=name, colour="red" if name in "ab" else "white")
    return client


def names(answer: Any) -> str:
    assert answer.status_code == 200, answer.json()
    return "".join(answer.json()["results"])


def test_with_and_without_the_last_slash_without_redirect(five: APIClient) -> None:
    assert five.get("/api/v1/doors").json() == five.get("/api/v1/doors/").json()


def test_a_list_is_paged(five: APIClient) -> None:
    assert five.get("/api/v1/doors/").json() == {"count": 5, "results": list("cabed")}
    assert names(five.get("/api/v1/doors/", {"page_size": 2, "page": 2})) == "be"
    assert five.get("/api/v1/doors/", {"page_size": 2, "page": 9}).status_code == 404
    assert five.get("/api/v1/doors/", {"page": "first"}).status_code == 404


@pytest.mark.parametrize("size", ["0", "-1", "501", "many", "1e3", "９", "9" * 400, ""])
def test_a_page_size_is_1_to_500(five: APIClient, size: str) -> None:
    answer = five.get("/api/v1/doors/", {"page_size": size})
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == ["page_size"]


def test_a_page_of_500_is_fine(five: APIClient) -> None:
    assert names(five.get("/api/v1/doors/", {"page_size": 500})) == "cabed"


def test_a_list_is_sorted_by_allowed_keys_and_ties_by_age(five: APIClient) -> None:
    assert names(five.get("/api/v1/doors/", {"ordering": "name"})) == "abcde"
    assert names(five.get("/api/v1/doors/", {"ordering": "-name"})) == "edcba"
    assert names(five.get("/api/v1/doors/", {"ordering": "colour"})) == "abced"
    assert names(five.get("/api/v1/doors/", {"ordering": "-colour,name"})) == "cdeab"


@pytest.mark.parametrize("key", ["state", "pk", "--name", "name__x", "colour,state", "?", "x" * 5000])
def test_nothing_else_sorts(five: APIClient, key: str) -> None:
    answer = five.get("/api/v1/doors/", {"ordering": key})
    assert answer.status_code == 422
    assert "allowed: name, colour" in answer.json()["errors"]["ordering"][0]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        ("unauthenticated", 401, "unauthenticated"), ("forbidden", 403, "forbidden"), ("stranger", 404, "not_found"),
        ("django-404", 404, "not_found"), ("django-403", 403, "forbidden"), ("conflict", 409, "conflict"),
        ("invalid", 422, "invalid"), ("validation", 422, "invalid"),
    ],
)  # fmt: skip
def test_every_refusal_is_problem_details(client: APIClient, error: str, status: int, code: str) -> None:
    answer = client.get("/api/v1/doors/", {"raise": error})
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    body = answer.json()
    assert (body["type"], body["status"], body["code"]) == (f"urn:sluice:{code}", status, code)
    assert body["title"]
    assert body["detail"]


def test_a_stranger_and_nothing_there_look_the_same(client: APIClient) -> None:
    answers = [client.get("/api/v1/doors/", {"raise": error}) for error in ("stranger", "django-404")]
    assert answers[0].content == answers[1].content


def test_a_refusal_carries_its_data(client: APIClient) -> None:
    body = client.get("/api/v1/doors/", {"raise": "forbidden"}).json()
    assert (body["detail"], body["key"]) == ("Not with that key.", "rusty")
    assert client.get("/api/v1/doors/", {"raise": "unauthenticated"})["WWW-Authenticate"] == "Bearer"


def test_input_is_named_by_field_nested_ones_too(client: APIClient) -> None:
    assert client.get("/api/v1/doors/", {"raise": "invalid"}).json()["errors"] == {
        "name": ["too long"],
        "size": ["a", "b"],
    }
    assert client.get("/api/v1/doors/", {"raise": "validation"}).json()["errors"] == {"rows.1.size": ["wrong"]}
    answer = client.post("/api/v1/doors/", {"name": "cathedral"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["name"])
    assert client.post("/api/v1/doors/", {"name": "front"}).status_code == 201


def test_faults_of_the_framework_have_the_same_shape(client: APIClient) -> None:
    broken = client.post("/api/v1/doors/", "{", content_type="application/json")
    refused = client.put("/api/v1/doors/", {})
    for answer, status in ((broken, 400), (refused, 405)):
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
        assert set(answer.json()) >= {"type", "title", "status", "detail", "code"}


def test_errors_without_a_field_have_a_name() -> None:
    assert flatten(["wrong"]) == {"non_field_errors": ["wrong"]}


def test_an_error_has_a_sentence_of_its_own() -> None:
    assert str(PortalError()) == "Something went wrong"
    assert str(Invalid({"a": "b", "c": ["d", "e"]})) == "a: b; c: d e"


def test_a_refusal_is_put_on_the_fields_of_a_form() -> None:
    class Form(forms.Form):
        name = forms.CharField(required=False)
        rows = forms.CharField(required=False)

    form = Form({})
    assert form.is_valid()
    add_errors(form, Invalid({"name": "taken", "rows.0.size": "too big", "elsewhere": ["one", "two"]}))
    assert form.errors == {"name": ["taken"], "rows": ["too big"], "__all__": ["one", "two"]}
