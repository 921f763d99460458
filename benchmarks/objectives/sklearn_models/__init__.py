"""Models of scikit-learn, tuned on data that packages carry, one task a file.

`model_task` and `model_training` are what they share: levels, examples, and the errors after each iteration. What
scikit-learn continues by itself, as boosting and descent, is continued; of a forest the sum of the trees' answers is.
"""
