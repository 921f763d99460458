"""What every room of the suite uses and none owns: the environment of processes, streams, errors and formats.

Nothing here imports another room of `benchmarks`.
"""
