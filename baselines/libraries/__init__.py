"""What wrapping a library takes: its random state and output kept apart, spaces translated, its faults mended."""
