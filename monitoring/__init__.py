"""Telemetry: samples, latest values, use."""
