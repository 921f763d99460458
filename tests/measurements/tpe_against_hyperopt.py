"""Whether the suite's TPE and random search are as good as the bare library: final regret on Currin.

Run by hand: `python tests/measurements/tpe_against_hyperopt.py [seeds]`. The bare library is
`hyperopt.fmin` in a space as its users write it, with seeds of its own; |t| is Welch's statistic of
the difference of the means, and large where a wrapper differs from its library.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import stats

from baselines.protocol import Measurement, Problem
from baselines.random_search import RandomSearch
from baselines.tpe import TPE
from benchmarks.objectives.currin import MAXIMUM, Currin, heavy

N_HEAVY = 40
OFFSET = 10_000  # the bare library's seeds begin here


def value(config: dict[str, float]) -> float:
    """To be minimized."""
    return -float(heavy([config["x1"], config["x2"]]))


def ours(method_class: type, seed: int) -> list[float]:
    """The values of one run through the protocol."""
    method = method_class(Problem(Currin.space, heavy_iterations=5), seed=seed)
    values = []
    for _ in range(N_HEAVY):
        trial = method.ask()
        values.append(value(trial.config))
        method.tell(trial, Measurement(values[-1]))
    return values


def bare(library: str, seed: int) -> list[float]:
    """The values of one run of `fmin`."""
    import hyperopt
    from hyperopt import hp

    space = {"x1": hp.uniform("x1", 0.0, 1.0), "x2": hp.uniform("x2", 0.0, 1.0)}
    trials = hyperopt.Trials()
    suggest = getattr(hyperopt, library).suggest
    hyperopt.fmin(
        value, space, suggest, N_HEAVY, trials=trials, rstate=np.random.default_rng(OFFSET + seed), verbose=False
    )
    return trials.losses()


def main(n_seeds: int) -> None:
    """Print a table of final regrets, mean (sd)."""
    runs = {
        name: (
            np.array([ours(method_class, seed) for seed in range(n_seeds)]),
            np.array([bare(library, seed) for seed in range(n_seeds)]),
        )
        for name, method_class, library in (("tpe", TPE, "tpe"), ("random_search", RandomSearch, "rand"))
    }
    print(f"final regret on Currin, mean (sd) of {n_seeds} seeds")
    print(f"{'method':14}{'heavy runs':>11}{'ours':>20}{'bare hyperopt':>20}{'|t|':>7}{'p':>7}")
    for name, n_heavy in (("tpe", 20), ("tpe", 40), ("random_search", 40)):
        mine, theirs = (np.min(values[:, :n_heavy], axis=1) + MAXIMUM for values in runs[name])
        test = stats.ttest_ind(mine, theirs, equal_var=False)
        cells = "".join(f"{regret.mean():>11.4f} ({regret.std(ddof=1):.4f})" for regret in (mine, theirs))
        print(f"{name:14}{n_heavy:>11}  {cells}{abs(test.statistic):>8.2f}{test.pvalue:>7.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
