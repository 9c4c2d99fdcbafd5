"""Pages of the registry. The page of one project itself is composed by the portal from these rooms' parts."""
