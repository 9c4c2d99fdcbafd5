"""What a list of projects may be narrowed by: the same in the API and on the page."""

from typing import Any

import django_filters
from django.db.models import QuerySet

from projects.models import Kind, Project, Stage, Tier
from projects.selectors import matching
from projects.states import ProjectState

NO_TIER = "none"


class ProjectFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Over rows of ``selectors.with_facts``. A value that is not allowed is a fault, not an empty list."""

    q = django_filters.CharFilter(method="search", label="Words in name, goal or lead")
    state = django_filters.MultipleChoiceFilter(choices=ProjectState.choices)
    stage = django_filters.MultipleChoiceFilter(choices=Stage.choices)
    kind = django_filters.ChoiceFilter(choices=Kind.choices)
    area = django_filters.CharFilter(field_name="area__name")
    tier = django_filters.MultipleChoiceFilter(choices=[*Tier.choices, (NO_TIER, "No tier")], method="of_tier")

    class Meta:
        model = Project
        fields: list[str] = []

    def search(self, rows: QuerySet[Project], name: str, value: str) -> QuerySet[Project]:
        return matching(rows, value)

    def of_tier(self, rows: QuerySet[Any], name: str, value: list[str]) -> QuerySet[Any]:
        if not value:
            return rows
        ranks = [Tier.values.index(tier) if tier != NO_TIER else len(Tier.values) for tier in value]
        return rows.filter(tier_rank__in=ranks)
