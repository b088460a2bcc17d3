"""The Python API, on which the HTTP API, the command line and MCP are built."""
