"""An executed notebook and the report of a study as a browser lays them out."""

from pathlib import Path

import pytest
from nbconvert import HTMLExporter

from benchmarks.studies.study import Study
from browser import assert_laid_out, layouts, needs_chromium
from support import frame, run

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
METHODS = ("btao", "gp_bo", "random_search")


@needs_chromium
def test_figures_load_and_no_text_leaves_its_box(tmp_path):
    runs = [run("LHH", [1.0, 0.5, 0.4], method=name, hash=f"hash{name}", seed=s) for name in METHODS for s in range(3)]
    report = Study(frame(*runs), ("currin, heavy=2",), METHODS).report(tmp_path / "study.html").read_text()
    notebook, _ = HTMLExporter().from_filename(NOTEBOOKS / "03_svm.ipynb")
    found = layouts({"report": report, "notebook": notebook}, tmp_path)
    assert [(page["page"], page["width"], len(page["images"])) for page in found] == [
        *(("report", width, 2) for width in (1280, 700)),
        *(("notebook", width, 4) for width in (1280, 700)),
    ]
    assert_laid_out(found)


@needs_chromium
def test_what_does_not_load_or_fit_is_found(tmp_path):
    broken = (
        '<img src="data:image/png;base64,xx"><p style="width: 50px">overflowing</p><pre style="width: 9999px">x</pre>'
    )
    (page,) = layouts({"broken": broken}, tmp_path, widths=[700])
    assert (page["images"], page["overflowing"]) == ([0], ["overflowing"])
    assert page["scroll"] > page["client"] == 700
    with pytest.raises(AssertionError, match="broken at 700 pixels: widths of images"):
        assert_laid_out([page])
