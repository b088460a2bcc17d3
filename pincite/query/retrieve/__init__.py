"""Find chunks: query expansion, lexical and dense search, fusion."""
