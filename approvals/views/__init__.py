"""Pages of this room: the queue, many at once, what was decided, the policies, stand-ins."""
