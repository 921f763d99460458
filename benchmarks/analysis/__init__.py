"""What recorded runs and tables say: pure functions from DataFrames to DataFrames, without files and without figures.

`incumbents` gives the state of every run, `aggregate`, `scores`, `per_task`, `ranking`, `over_time` and `targets`
compare methods by it, with the `intervals` of a mean or a share; `variants`, `ablation` and `prediction` study BTAO,
`claims` and `checks` judge the paper. The folder `ladder` compares the steps from the paper's rule to the rate rule,
and holds those that are no options of `btao`; `recorded` studies tables and the runs on them.
"""
