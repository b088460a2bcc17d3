"""The parts of the embedded PostgreSQL server; `pincite.store.embedded.server` is their door."""
