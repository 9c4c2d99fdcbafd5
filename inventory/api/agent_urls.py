"""Calls of agents that this room answers, under ``/agent/v1/``."""

from django.urls import re_path

from inventory.api.agent import EnrolView

urlpatterns = [re_path(r"^enrol/?$", EnrolView.as_view(), name="agent-enrol")]
