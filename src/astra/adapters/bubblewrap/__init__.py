"""Runs a command in a box made of kernel namespaces, so that what is not granted is not there.

`profile` describes the box as data, `launch` builds and watches it, `preflight` proves on this
machine that it holds.
"""
