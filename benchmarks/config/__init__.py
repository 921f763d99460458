"""The command line: its options, the tasks and methods of `conf/`, and the requests that they make.

`registry` finds the files of `conf/`, `contents` says what they must hold, and `build` puts them into the wheel.
`additions` are tasks and methods of elsewhere; where one is a class without a file, `classes` asks the class for what
the file would say. `options` checks values, `request` composes all with Hydra, which finds additions in the
`hydra_store`, `spec` builds a task or a method, `code` carries a class that cannot be imported, and `help` is what
--help prints.
"""
