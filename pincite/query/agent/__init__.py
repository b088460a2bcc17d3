"""Agent mode: the loop, its tools and its scratchpad."""
