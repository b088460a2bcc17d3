"""Backup, restore, purge, integrity checks, stored settings, traces and evaluations."""
