"""What runs inside the box of a mutation run; it is copied there and imports nothing of Astra.

`mutants` writes faulty versions of a source, `coverage` says which test reaches which line,
`plugin` sits in the target's pytest and runs the tests against one faulty version after another.
"""
