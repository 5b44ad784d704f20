"""The MCP door: the official SDK's server in the daemon, a light relay for stdio, and HTTP."""
