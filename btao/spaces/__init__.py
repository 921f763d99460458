"""What a space has beside its parameters: `conditions`, which say where a parameter is active."""
