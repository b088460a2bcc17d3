"""The branches of the settings tree, by what they configure."""
