"""The program on a GPU node: runs launches, keeps their exit records, samples NVML.

It installs from ``requirements-agent.txt`` alone and imports no Django and no room of the portal.
"""

__version__ = "0.1.0"
