"""Answers without a language model: sentences of the sources, scored, selected and cited; or a refusal."""
