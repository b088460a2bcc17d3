"""Which ranked hits an answer may use: expansion, relevance filter, verification, coverage."""
