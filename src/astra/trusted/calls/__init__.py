"""The one place where every door calls a tool: parse, footprint, gate, permit, run, record."""
