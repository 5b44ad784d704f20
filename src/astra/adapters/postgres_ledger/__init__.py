"""The ledger in Postgres: one chain that several machines append to.

Nothing here is imported unless `ASTRA_DATABASE_URL` is set or a command names a database.
"""
