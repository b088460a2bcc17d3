"""The semantic answer cache, and whether two questions mean the same."""
