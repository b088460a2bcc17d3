"""What language models, embedders and rerankers share: facts, factories, retries, calibration."""
