"""Is it good? Question sets asked through the same pipeline as production, and what came of it in figures."""
