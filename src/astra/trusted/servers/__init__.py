"""Other MCP servers under the gate: what they declare, what was signed of it, what a call is."""
