"""The program that looks at a change from inside a box.

It is handed over as a bundle of compiled modules, because a box does not see Astra's install. It
reads numbered files, runs the rules, `ruff` and `bash -n`, and prints one JSON document.
"""
