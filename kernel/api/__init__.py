"""The ground of every room's API: views, pages of lists, addresses."""
