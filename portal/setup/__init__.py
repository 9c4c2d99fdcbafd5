"""What ``./run`` does before and around the product: set-up, checks, tests, backup. Standard library only."""
