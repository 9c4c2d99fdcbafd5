"""Instants as callers write them."""

from datetime import datetime

from rest_framework import serializers
from rest_framework.request import Request

from kernel import clock
from kernel.api.fields import InstantField
from kernel.errors import Invalid


def instant(request: Request) -> datetime:
    """``?at=``, or now. A plus sign that arrived as a blank is one again."""
    text = request.query_params.get("at", "")
    if not text:
        return clock.now()
    head, blank, zone = text.rpartition(" ")
    if blank and "T" in head:
        text = f"{head}+{zone}"
    try:
        at: datetime = InstantField().run_validation(text)
    except serializers.ValidationError as error:
        raise Invalid({"at": [f"{text[:60]}: {part}" for part in error.detail]}) from error
    return at
