"""An answer without a model: sentences of the sources chosen, said and cited by code, or refused."""
