"""The command line: its options, the tasks and methods of `conf/`, and the requests that they make.

`registry` finds the files of `conf/`, `options` checks values, `request` composes both with Hydra,
`spec` builds a task or a method, and `help` is what --help prints.
"""
