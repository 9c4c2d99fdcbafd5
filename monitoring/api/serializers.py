"""Shapes of the telemetry answers, for the OpenAPI document."""

from rest_framework import serializers


class ColumnsOutput(serializers.Serializer[object]):
    """One entry per step; null is a gap."""

    utilisation_pct = serializers.ListField(child=serializers.FloatField(allow_null=True))
    lowest_gpu_pct = serializers.ListField(child=serializers.FloatField(allow_null=True))
    highest_gpu_pct = serializers.ListField(child=serializers.FloatField(allow_null=True))
    memory_used_bytes = serializers.ListField(child=serializers.IntegerField(allow_null=True))
    power_w = serializers.ListField(child=serializers.FloatField(allow_null=True))
    gpus = serializers.ListField(child=serializers.IntegerField())
    samples = serializers.ListField(child=serializers.IntegerField())


class LineOutput(serializers.Serializer[object]):
    label = serializers.CharField()  # type: ignore[assignment]
    values = serializers.ListField(child=serializers.FloatField(allow_null=True))


class SeriesOutput(serializers.Serializer[object]):
    start = serializers.DateTimeField()
    end = serializers.DateTimeField()
    step_s = serializers.IntegerField()
    mean_utilisation_pct = serializers.FloatField(allow_null=True)
    samples = serializers.IntegerField()
    columns = ColumnsOutput()
    measure = serializers.ChoiceField(["utilisation", "memory", "power"])
    unit = serializers.CharField()
    max = serializers.FloatField(allow_null=True)
    series = LineOutput(many=True)
    held = serializers.ListField(
        child=serializers.IntegerField(), required=False, help_text="GPUs held in each step; of jobs and projects."
    )
    is_simulated = serializers.BooleanField()


class GpuOutput(serializers.Serializer[object]):
    """One GPU now. Values are null when it never reported, or not lately (``is_stale``)."""

    id = serializers.IntegerField()
    uuid = serializers.CharField()
    index = serializers.IntegerField()
    node = serializers.CharField()
    node_id = serializers.IntegerField()
    gpu_model = serializers.CharField()
    state = serializers.CharField()
    is_simulated = serializers.BooleanField()
    last_sample_at = serializers.DateTimeField(allow_null=True)
    is_stale = serializers.BooleanField()
    utilisation_pct = serializers.FloatField(allow_null=True)
    memory_used_bytes = serializers.IntegerField(allow_null=True)
    memory_bytes = serializers.IntegerField()
    power_w = serializers.FloatField(allow_null=True)
    temperature_c = serializers.IntegerField(allow_null=True)
    clock_mhz = serializers.IntegerField(allow_null=True)
    series = SeriesOutput(required=False, help_text="Only when from, to or step is given.")
