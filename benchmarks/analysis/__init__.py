"""What recorded runs and tables say: pure functions from DataFrames to DataFrames, without files and without figures.

`incumbents` gives the state of every run, `aggregate`, `scores`, `ranking` and `targets` compare methods by it,
`variants`, `ablation`, `prediction` and `training_curves` study BTAO and the tables, `claims` and `checks` judge the
paper.
"""
