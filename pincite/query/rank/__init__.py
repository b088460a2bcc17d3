"""Order the hits: rerank, penalise, deduplicate, diversify, score relevance."""
