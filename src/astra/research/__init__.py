"""Research: a question, a bounded session over local sources and granted pages, cited findings.

`model` is what a session consists of, `planning` says which task comes next (pure), `running` does
one task after another and records each; `gathering` searches the sources, `reading` asks a model,
`citations` reads every cited object again. A session is the fold of its records (`book`).
"""
