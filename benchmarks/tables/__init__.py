"""Recorded tables: training curves of a design of configurations, and the runs that replay them.

`table` is the file, `replay` the task that it answers, by `answers` to trials. `design` and `design_log` say what is
recorded and what is logged of it, `progress` how far that is, `timing` gives a table the seconds of one machine, and
`repeats` finds those that were trained from other seeds.
"""
