"""What a task is, for every door: of a change, of a goal's graph, or a firing of a schedule."""
