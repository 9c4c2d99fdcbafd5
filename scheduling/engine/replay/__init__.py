"""Recorded or invented workloads through the engine, faster than real time."""
