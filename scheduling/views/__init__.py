"""Pages of jobs: the list, a new one, one job with its log, and what can be done with it."""
