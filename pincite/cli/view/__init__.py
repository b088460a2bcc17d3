"""Terminal output: functions that print domain values, with or without colour."""
