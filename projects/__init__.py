"""Registry: projects, members, stages, milestones, the dated tier in force."""
