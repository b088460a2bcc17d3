"""The tools of an index, and the switch from one index to another."""
