"""Many simulated nodes in one process, over the real protocol. Their members are no processes, and say so."""
