"""The one flow of decisions: policy, steps, votes, stand-ins, one queue. Rooms above register what is decided."""
