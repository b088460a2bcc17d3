"""Evaluation: run question sets through the production pipeline, and measure the results."""
