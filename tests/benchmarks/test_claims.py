"""The claims: figures against independent computations, verdicts, the file of claims and the command."""

import math
from pathlib import Path

import numpy as np
import pandas
import pytest

from benchmarks import claim_checks, claims
from benchmarks.claim_checks import Figure
from benchmarks.claims import CLAIMS, FAILS, HOLDS, OPEN
from benchmarks.options import UsageError
from btao import Real, Space
from btao.training import Level

ENTRY = {
    "claim": "A is fast",
    "source": "Fig. 1",
    "meaning": "its speed-up",
    "check": "speed_up",
    "of": {"records": "some"},
    "parameters": {"task": "t", "method": "a", "over": "b", "against": "heavy_runs"},
    "above": 1,
}


def runs(values, **columns):
    """Heavy runs of a second each; `values` are by method, one list of trials a seed."""
    rows = []
    for method, seeds in values.items():
        for seed, trials in enumerate(seeds):
            for trial, value in enumerate(trials):
                seconds = {"train_seconds": 1.0, "method_seconds": 0.0, "time": trial + 1.0}
                head = {"task": "t", "method": method, "hash": f"h{method}", "seed": seed, "data": None, "optimum": 0.0}
                row = {"trial": trial, "heavy": True, "budget": 5, "value": value, "status": "ok", "iterations": 5}
                rows.append(head | row | seconds | {"truth": math.nan} | columns)
    return pandas.DataFrame(rows)


def test_a_speed_up_is_the_ratio_of_costs_to_what_the_other_has_half_way():
    """Half-way, after 4 of 8 trials, b is at 4; a is there after 1, b after 4."""
    frame = runs({"a": [[4, 3, 2, 1]] * 6, "b": [[7, 6, 5, 4, 3, 2, 1, 0]] * 6})
    figure = claim_checks.speed_up(frame, "t", "a", "b", "heavy_runs")
    assert figure == Figure(4.0, 4.0, 4.0, 6)


def test_a_share_of_runs_has_wilsons_interval():
    """Of 8 of 10: centre (p + z²/2n) / (1 + z²/n)."""
    frame = runs({"a": [[1.0, 1e-4]] * 8 + [[1.0, 0.5]] * 2})
    figure = claim_checks.share_reaching(frame, "t", "a", 1e-3)
    z, n = 1.959963984540054, 10
    centre = (0.8 + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(0.8 * 0.2 / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    assert (figure.value, figure.n) == (0.8, 10)
    assert (figure.low, figure.high) == pytest.approx((centre - half, centre + half))


def test_means_gaps_and_spreads_of_final_values():
    generator = np.random.default_rng(0)
    samples = {name: centre + generator.normal(0, 0.1, 30) for name, centre in (("a", 1.0), ("b", 2.0), ("c", 2.5))}
    frame = runs({name: [[9.0, value] for value in values] for name, values in samples.items()})
    means = {name: values.mean() for name, values in samples.items()}
    error = {name: values.std(ddof=1) / math.sqrt(30) for name, values in samples.items()}

    mean = claim_checks.final_mean(frame, "t", "a")
    assert mean.value == pytest.approx(means["a"])
    assert (mean.high - mean.low) / 2 == pytest.approx(2.045 * error["a"], rel=0.15)  # Student's t

    gap = claim_checks.gap(frame, "t", ["b", "c"], ["a"])
    assert gap.value == pytest.approx(means["b"] - means["a"])
    assert (gap.high - gap.low) / 2 == pytest.approx(2 * math.hypot(error["a"], error["b"]), rel=0.2)
    assert claim_checks.gap(frame, "t", ["a", "b"], ["c"]).high < 0

    spread = claim_checks.spread(frame, "t", ["a", "b", "c"])
    assert spread.value == pytest.approx(means["c"] - means["a"])
    assert spread.low < spread.value < spread.high


class Affine:
    """The heavy response is below the light one where x is below 0.3."""

    space = Space({"x": Real(0.0, 1.0)})
    light, heavy = Level(1), Level(5)

    def evaluate(self, config, level, seed):
        return Figure(config["x"] - 0.3 if level is self.heavy else 0.0, 0, 0, 0)


def test_levels_are_compared_over_the_whole_space():
    figure = claim_checks.ordered_levels(Affine(), points=1024)
    assert figure.value == pytest.approx(0.3, abs=0.002)
    assert figure.n == 1024 and figure.low < 0.3 < figure.high


def test_methods_without_runs_and_several_configurations_are_named():
    frame = runs({"a": [[1.0]], "b": [[1.0]]})
    with pytest.raises(LookupError, match="no runs of c on t"):
        claim_checks.final_mean(frame, "t", "c")
    other = pandas.concat([frame, frame.assign(hash="other")])
    with pytest.raises(LookupError, match="runs of several configurations of a on t"):
        claim_checks.final_mean(other, "t", "a")


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.1, 1.9, HOLDS),
        (0.5, 1.0, FAILS),
        (2.0, 3.0, FAILS),
        (0.9, 1.5, OPEN),
        (1.5, 2.5, OPEN),
        (0.5, 2.5, OPEN),
        (1.0, 1.5, OPEN),
        (math.nan, math.nan, OPEN),
    ],
)
def test_a_claim_holds_if_its_whole_interval_says_so(tmp_path, low, high, verdict):
    (claim,) = read([ENTRY | {"below": 2}], tmp_path)
    assert claim.verdict(Figure(1.5, low, high, 10)) == verdict


def read(entries, folder):
    import yaml

    path = folder / "claims.yaml"
    path.write_text(yaml.safe_dump(entries))
    return claims.read(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"check": "speedup"}, "claim 1 unknown check 'speedup': did you mean 'speed_up'"),
        ({"check": "runs_of"}, "claim 1 unknown check 'runs_of'"),
        ({"bellow": 1}, "claim 1 unknown key 'bellow': did you mean 'below'"),
        ({"parameters": {"task": "t"}}, "claim 1 missing a required argument: 'method'"),
        ({"of": {"table": "fcn"}}, "claim 1 cannot be of table: speed_up takes a frame"),
        ({"of": "records"}, "claim 1 must be of one of records, table, task, got 'records'"),
    ],
)
def test_mistakes_in_the_file_of_claims_are_named(tmp_path, change, message):
    with pytest.raises(UsageError, match=message):
        read([ENTRY | change], tmp_path)


@pytest.mark.parametrize(
    ("missing", "message"), [("above", "needs above or below"), ("meaning", "claim 1 lacks 'meaning'")]
)
def test_what_a_claim_lacks_is_named(tmp_path, missing, message):
    with pytest.raises(UsageError, match=message):
        read([{key: value for key, value in ENTRY.items() if key != missing}], tmp_path)


def test_the_papers_claims_can_be_read_and_each_says_where_it_is_computed():
    found = claims.read()
    assert len({claim.text for claim in found}) == len(found) > 30
    for claim in found:
        file, _, line = claim.code.partition("#L")
        source = (CLAIMS.parents[1] / file).read_text().splitlines()
        assert source[int(line) - 1].startswith(f"def {claim.check.__name__}(")
    numbered = {name for claim in found for name in [claim.parameters.get("method")] if name}
    methods = {path.stem for path in Path(CLAIMS.parents[1] / "conf" / "method").glob("*.yaml")}
    assert numbered <= methods


def test_what_is_not_recorded_cannot_be_told(tmp_path):
    def nothing(name):
        raise FileNotFoundError(name)

    table = claims.judge(read([ENTRY], tmp_path), nothing)
    assert table.loc[0, ["verdict", "reason", "n"]].tolist() == [OPEN, "no reference result some", 0]


def test_the_command_judges_the_runs_below_a_folder(tmp_path, capsys):
    from benchmarks.run import main as run

    arguments = ["task=toy", "method=[btao,random_search]", "seeds=2", "budget.heavy=4", "display=plain", "jobs=1"]
    assert run([*arguments, f"out={tmp_path / 'runs'}"]) == 0
    capsys.readouterr()
    entry = ENTRY | {"parameters": {"task": "toy", "method": "btao", "over": "random_search", "against": "heavy_runs"}}
    read([entry, entry | {"claim": "A | B", "parameters": entry["parameters"] | {"over": "tpe"}}], tmp_path)
    given = [f"out={tmp_path / 'runs'}", f"claims={tmp_path / 'claims.yaml'}"]
    assert claims.main(given) == 0
    assert "no runs of tpe on toy" in capsys.readouterr().out
    table = pandas.read_csv(tmp_path / "runs" / "claims.csv")
    assert table["n"].tolist() == [2, 0]
    text = (tmp_path / "runs" / "claims.md").read_text()
    assert "A \\| B" in text and "holds: " in text
    line = table["code"][0]
    assert f"(../../{line})" in text

    assert claims.main([*given, "match=nothing of the kind"]) == 2
    assert "match=nothing of the kind: no claim has this in it" in capsys.readouterr().err
    assert claims.main([f"out={tmp_path / 'empty'}"]) == 2
    assert claims.main(["output=x"]) == 2
