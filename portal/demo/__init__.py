"""The demo organisation: a few people, areas and projects, made by the same services and actors as in life."""
