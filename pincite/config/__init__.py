"""Settings: types, defaults, sources, schema, levels and profiles. Only this package reads the environment."""
