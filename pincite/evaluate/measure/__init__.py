"""Metrics, bootstrap intervals, calibration and plots."""
