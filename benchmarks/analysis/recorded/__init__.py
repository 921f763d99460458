"""What recorded tables and the runs on them say.

`training_curves` are those of a table, `training_noise` what other seeds of training change, and `repeats` how often
methods propose what they have had.
"""
