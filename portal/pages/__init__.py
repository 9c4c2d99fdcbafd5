"""Pages that compose several rooms: home, one project, the cluster, search. They read through selectors only."""
