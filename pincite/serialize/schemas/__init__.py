"""The documented JSON of responses as types, for OpenAPI and for the tools of MCP."""
