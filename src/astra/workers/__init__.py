"""Work on other machines: which workers there are, which jobs are offered, and who has them.

A worker is a process without doors on a machine of its own. It joins a shared chain as a second
daemon does and holds a lease of its own (`worker:MACHINE`): whatever it appends carries the epoch
of that lease, and one that lost it can write nothing more under it.

| module | what |
| --- | --- |
| `model`, `events`, `projection`, `book` | workers and jobs, as records and as rows |
| `duties` | what a worker does again and again; `taking` is the one that takes jobs |
| `offering` | what the leader does: offer a job, wait for it, do it itself where nobody can |
| `reaping` | what the leader does with jobs whose worker died, hung or is too slow |
"""
