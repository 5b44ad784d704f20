"""What an agent may see of files, as text: the target's source, and the machine within its scope.

`view` is the source view, read from git objects; `listing`, `reading` and `search` are its three
questions, `regex_worker` the process a regular expression runs in. `text_lines` turns bytes into
text and cuts lines out of it, and `scoped_reads` shows files outside the target.
"""
