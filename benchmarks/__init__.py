"""Benchmarks, run by hand with ./run bench NAME; each prints a table and the settings it used."""
