"""Users, permissions, audit events, conversations."""
