"""Search by cross-validation with scikit-learn's interface: the class, its candidates and its folds."""
