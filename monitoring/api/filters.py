"""Filters of the GPU list."""

import django_filters

from inventory.models import Device


class GpuFilter(django_filters.FilterSet):  # type: ignore[misc]
    node = django_filters.CharFilter(field_name="node__name")
    pool = django_filters.CharFilter(field_name="node__pool__name")
    gpu_model = django_filters.CharFilter(field_name="gpu_model__name")
    is_simulated = django_filters.BooleanFilter()

    class Meta:
        model = Device
        fields: tuple[str, ...] = ()
