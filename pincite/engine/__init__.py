"""The Python API: opens the library and answers every call of the interfaces."""
