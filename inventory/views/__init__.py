"""Pages of the machines."""
