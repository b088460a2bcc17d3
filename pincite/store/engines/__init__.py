"""The data of the engines beside dense and lexical search, each edition's written in one transaction."""
