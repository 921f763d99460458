"""Figures, each drawn from a DataFrame and saved as PNG and PDF with its numbers as CSV.

`style` holds what they share: the look of every method, matplotlib's settings and how files are written.
"""
