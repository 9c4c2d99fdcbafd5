"""The allocation solver: one pure function that turns priorities into whole-GPU quotas.

``reading.read`` makes an ``Instance`` of its file, ``solving.solve`` a ``Plan`` of the instance, ``auditing.audit``
checks a plan against an instance without knowing how it was made. No Django, no clock, no files. The method is
explained in docs/allocation.md: floors by rank, exact weighted max-min by water-filling with prices, movement,
rounding.
"""
