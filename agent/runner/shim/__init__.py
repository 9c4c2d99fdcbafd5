"""The parent process of one job. Standard library only, and it outlives the agent."""
