"""The parts of the embedded PostgreSQL server; `pincite.store.server` is their door."""
