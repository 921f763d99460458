"""The command line: its options, the tasks and methods of `conf/`, and the requests that they make.

`registry` finds the files of `conf/`, `contents` says what they must hold, and `additions` are those of elsewhere, with
`classes` what a class says in place of a file; `build` puts the files into the wheel. `options` checks values,
`request` composes all with Hydra, which finds additions in the `hydra_store`, `spec` builds a task or a method, `code`
carries a class that cannot be imported, and `help` is what --help prints.
"""
