"""Calls of agents that this room answers, under ``/agent/v1/``."""

from django.urls import re_path

from scheduling.api.agent import LaunchView, LogView, SyncView

urlpatterns = [
    re_path(r"^sync/?$", SyncView.as_view(), name="agent-sync"),
    re_path(r"^launches/(?P<member_id>[0-9]{1,18})/?$", LaunchView.as_view(), name="agent-launch"),
    re_path(r"^logs/(?P<member_id>[0-9]{1,18})/?$", LogView.as_view(), name="agent-log"),
]
