"""Runs attempt members: one folder and one shim process each. The shim is the job's parent, not the agent."""
