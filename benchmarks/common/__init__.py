"""What every room of the suite uses and none owns.

The `environment` of processes, `streams` on which no work depends, `errors`, and `formats` of numbers. Nothing here
imports another room of `benchmarks`.
"""
