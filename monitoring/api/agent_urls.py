"""Addresses that nodes use, under ``/agent/v1/``."""

from django.urls import re_path

from monitoring.api.agent import SamplesView

urlpatterns = [
    re_path(r"^samples/?$", SamplesView.as_view(), name="agent-samples"),
]
