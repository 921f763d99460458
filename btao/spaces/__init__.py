"""What a space has beside its parameters: `conditions`, where each is active, and a `constraint` on all together.

`configspace` and `optuna` convert from and to other tools' spaces.
"""
