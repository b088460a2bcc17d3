"""A follow-up rewritten without a model: its noun phrases, its pronouns, its missing parts."""
