"""Makes files searchable: accept, parse, chunk, embed and index them, one package per stage."""
