"""Everything of an instance as child processes: databases, web, workers, agents. Standard library only."""
