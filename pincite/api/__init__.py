"""The HTTP door: the only package that serves HTTP; one file per noun."""
