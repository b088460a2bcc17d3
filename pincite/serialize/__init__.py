"""Serializers: domain values as the documented JSON, for the HTTP service and the command line."""
