"""Who may start a request now: limits on work in progress and a fair queue per user."""
