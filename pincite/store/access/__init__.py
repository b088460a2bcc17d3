"""Users, groups, permissions, API keys, login sessions, usage, audit log."""
