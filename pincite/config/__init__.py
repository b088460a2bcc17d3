"""The settings: their types, defaults, sources, schema and presets. The only reader of the environment."""
