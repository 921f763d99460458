"""What recorded runs and tables say: pure functions from DataFrames to DataFrames, without files and without figures.

`incumbents` gives the state of every run, `aggregate`, `scores`, `per_task`, `ranking`, `over_time` and `targets`
compare methods by it, with the `intervals` of a mean or a share; `variants`, `ablation`, `prediction`,
`training_curves` and `training_noise` study BTAO and the tables, `claims` and `checks` judge the paper. The folder
`ladder` compares the steps from the paper's rule to the rate rule.
"""
