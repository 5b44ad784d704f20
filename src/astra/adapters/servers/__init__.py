"""Other MCP servers: connections (a box, or HTTP through the egress proxy) and their keeper."""
