"""The style of figures, and what is written of one."""

from __future__ import annotations

import errno
import itertools
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks.figures.colors import distance, oklab
from benchmarks.figures.style import (
    FAR,
    METHOD_STYLES,
    OTHER_STYLES,
    below_panels,
    drawing,
    figure_path,
    label_styles,
    method_styles,
    powers_of_ten,
    save,
)
from layout import faults

METHODS = ["random_search", "gp_bo", "btao", "btao_paper", "tpe", "smac", "smac_gp", "bohb", "hyperband"]


def test_styles_of_the_known_methods_are_fixed_and_told_apart_without_color():
    styles = method_styles(METHODS)
    assert styles == {name: METHOD_STYLES[name] for name in METHOD_STYLES}
    for aspect in ("color", "dashes", "marker"):
        assert len({getattr(style, aspect) for style in styles.values()}) == len(METHODS)
    assert method_styles(["tpe"])["tpe"] == styles["tpe"]


def test_styles_of_other_methods_are_distinct_and_the_same_in_figures_where_their_colors_are_free():
    names = [f"method_{number}" for number in range(40)]
    styles = method_styles([*names, *METHODS])
    assert len(set(styles.values())) == len(styles)
    alone = {name: method_styles([name])[name] for name in ("mine", "yours")}
    assert alone["mine"].color != alone["yours"].color
    assert method_styles(["yours", "mine", "btao"]) == {"btao": METHOD_STYLES["btao"], **alone}
    with pytest.raises(ValueError, match="there are styles for 75 unlisted methods, got 76"):
        method_styles(map(str, range(76)))


@pytest.mark.parametrize("own", [1, 2, 5])
def test_a_user_s_methods_have_colors_far_from_each_other_and_from_the_others_in_focus(own):
    names = [f"method_{number}" for number in range(own)]
    for company in itertools.combinations(METHODS, 5 - own):
        colors = [style.color for style in method_styles([*names, *company]).values()]
        mine, others = colors[5 - own :], colors[: 5 - own]
        pairs = [*itertools.combinations(mine, 2), *itertools.product(mine, others)]
        assert min(distance(*pair) for pair in pairs) >= FAR


def test_the_distance_of_colors_is_that_of_oklab_to_the_eye_that_tells_them_least():
    # Ottosson's own example: red is (0.628, 0.225, 0.126); white has the lightness 1 and no hue.
    assert oklab("#FF0000") == pytest.approx([0.628, 0.225, 0.126], abs=5e-4)
    assert oklab("white") == pytest.approx([1, 0, 0], abs=1e-4)
    assert distance("black", "white") == pytest.approx(1, abs=1e-4)
    # Without the cones for middle waves a red and an olive of one lightness are nearly the same.
    assert distance("#B22222", "#7B3F00") < FAR < 0.1 < sum((oklab("#B22222") - oklab("#7B3F00")) ** 2) ** 0.5


def test_labels_have_the_style_of_their_method():
    styles = label_styles(["btao [1a2b]", "btao [3c4d]", "tpe", "light_per_heavy=4"])
    assert styles["btao [1a2b]"] == styles["btao [3c4d]"] == METHOD_STYLES["btao"]
    assert styles["tpe"] == METHOD_STYLES["tpe"]
    assert styles["light_per_heavy=4"] in OTHER_STYLES


def lightness(color):
    """CIE L* of a color: what is left of it in print without color."""
    red, green, blue = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
    y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def test_colors_are_dark_enough_for_white_paper_without_color():
    assert all(lightness(style.color) < 73 for style in [*METHOD_STYLES.values(), *OTHER_STYLES])


def test_a_logarithmic_axis_is_marked_with_powers_of_ten():
    axes = Figure().add_subplot(yscale="log", ylim=(0.003, 20))
    powers_of_ten(axes.yaxis)
    axes.figure.draw_without_rendering()
    labels = [tick.label1.get_text() for tick in axes.yaxis.get_major_ticks()]
    assert [label for label in labels if label in {"10⁻²", "10⁻¹", "10⁰", "10¹"}] == ["10⁻²", "10⁻¹", "10⁰", "10¹"]
    assert axes.yaxis.get_major_formatter()(1e-9) == "10⁻⁹"
    assert len(axes.yaxis.get_minorticklocs()) == 0
    axes = Figure().add_subplot(yscale="log", ylim=(0.09, 2))  # where matplotlib would label marks between powers
    powers_of_ten(axes.yaxis)
    axes.figure.draw_without_rendering()
    assert len(axes.yaxis.get_minorticklocs()) > 8
    assert {label.get_text() for label in axes.yaxis.get_minorticklabels()} == {""}


@pytest.mark.parametrize(
    ("limits", "marks"), [((0.004, 0.06), "0.005 0.01 0.02 0.05"), ((2, 8), "2 5"), ((0.011, 0.09), "0.02 0.05")]
)
def test_a_logarithmic_axis_with_less_than_two_powers_of_ten_is_marked_with_numbers(limits, marks):
    axes = Figure().add_subplot(yscale="log", ylim=limits)
    powers_of_ten(axes.yaxis)
    axes.figure.draw_without_rendering()
    places = [place for place in axes.yaxis.get_majorticklocs() if limits[0] <= place <= limits[1]]
    assert [axes.yaxis.get_major_formatter()(place) for place in places] == marks.split()


@pytest.mark.parametrize("high", [2, 6, 15, 40])
def test_the_note_of_a_figure_is_below_its_legend_however_tall_it_is(high):
    handles = [Line2D([], [], label="a curve"), Line2D([], [], label="another curve")]
    for note in ("one line", "two\nlines", "a line\nand another\nand a third"):
        with drawing():
            figure = Figure(figsize=(4, high))
            below_panels(figure, handles, 1, note)
            figure.add_subplot(xlabel="iterations")
        assert faults(figure) == []
        note_box, legend_box = figure._supxlabel.get_window_extent(), figure.legends[0].get_window_extent()
        assert note_box.y0 >= 0 and note_box.y1 <= legend_box.y0


def test_a_figure_is_written_as_png_and_pdf_with_its_numbers_and_alike_each_time(tmp_path):
    table = pd.DataFrame({"x": [1, 2]})
    files = []
    for folder in ("one", "two"):
        figure = Figure()
        figure.add_subplot().plot(table["x"])
        save(figure, table, figure_path(tmp_path / folder / "figure.png"))
        files.append({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()})
    assert set(files[0]) == {"figure.png", "figure.pdf", "figure.csv"}
    assert files[0] == files[1]
    assert b"CreationDate" not in files[0]["figure.pdf"]
    assert files[0]["figure.csv"] == b"x\n1\n2\n"
    with pytest.raises(ValueError, match=r"path must end in \.png or \.pdf, got 'figure\.svg'"):
        figure_path("figure.svg")


def test_a_figure_is_laid_out_once_whatever_the_user_s_settings(tmp_path):
    contents = []
    for automatic in (False, True):
        figure = Figure(layout="constrained")
        figure.add_subplot(title="a title")
        with matplotlib.rc_context({"figure.autolayout": automatic}):
            save(figure, pd.DataFrame({"x": [1]}), tmp_path / "figure.png")
        assert figure.get_layout_engine() is None
        contents.append((tmp_path / "figure.pdf").read_bytes())
    assert contents[0] == contents[1]


def test_two_that_write_the_same_figure_at_once_both_end_with_whole_files(tmp_path, monkeypatch):
    """The second one comes while half of the first one's image is written."""
    table, write = pd.DataFrame({"x": [1]}), Path.write_bytes
    save(Figure(), table, tmp_path / "alone" / "figure.png")

    def contents(folder):
        return {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir() if ".tmp" not in path.suffixes}

    def interrupted(path, content):
        monkeypatch.undo()
        write(path, content[: len(content) // 2])
        save(Figure(), table, tmp_path / "both" / "figure.png")
        assert contents("both") == contents("alone")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    save(Figure(), table, tmp_path / "both" / "figure.png")
    assert contents("both") == contents("alone")
    assert len(list((tmp_path / "both").iterdir())) == 3


@pytest.mark.parametrize("ending", ["png", "pdf", "csv"])
def test_a_file_that_cannot_be_written_is_named_and_the_older_one_stays(tmp_path, monkeypatch, ending):
    write = Path.write_bytes

    def full(path, content):
        if f".{ending}" in path.suffixes:
            write(path, content[:3])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, content)

    path = tmp_path / f"figure.{ending}"
    path.write_text("older")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        save(Figure(), pd.DataFrame({"x": [1]}), tmp_path / "figure.png")
    assert caught.value.filename == str(path)
    assert path.read_text() == "older" and not list(tmp_path.glob("*.tmp.*"))
