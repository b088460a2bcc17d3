"""Tests of how things look in a terminal."""
