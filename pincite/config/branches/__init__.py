"""The branches of the settings tree, grouped by what they configure."""
