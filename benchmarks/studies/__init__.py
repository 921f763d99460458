"""What commands and notebooks do beyond reading their arguments.

`execution` runs plans and reports on them, `rerun` sets aside what is made anew, `model_accuracy` compares models of
the heavy response, `reference` holds the reference results and how they are made, `equal_seconds` a budget of theirs,
`verification` those that judge the rule that chooses levels. `study` is what a notebook holds of runs, `recorded_study`
reads it, `study_sum` adds two, `study_page`, `study_table` and `curves_explorer` show it; `keywords`, `interactive` and
`functions` are what a call of `benchmarks.study` gives in place of a command line.
"""
