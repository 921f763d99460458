"""Figures, each drawn from a DataFrame and saved as PNG and PDF with its numbers as CSV.

`curves`, `comparison`, `ratios`, `across_tasks`, `ablation`, `prediction`, `toy` and `training_curves` each draw a
kind. `style` holds what they share: the look of every method, matplotlib's settings and how files are written. `colors`
tells how far apart two of them are, `focus` which methods have one, `columns` how wide a figure is, `direct_labels`
names curves at their ends, `words` titles panels and knows what room words take, and `floor` is where regrets that are
rounding are drawn.
"""
