"""The Model Context Protocol: JSON-RPC messages and tools, independent of the transport."""
