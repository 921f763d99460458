"""npz archives of a published data set, read and checked."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.images import Array, CorruptData, Images, content_sha256
from benchmarks.data.published import Dataset

KEYS = ("x_train", "y_train", "x_test", "y_test")
UNREADABLE = (OSError, ValueError, TypeError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


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
    except UNREADABLE as error:
        raise CorruptData(f"{path} is no npz archive with the arrays {', '.join(KEYS)}: {error}") from error

    try:
        for part, counts in (("train", dataset.train_counts), ("test", dataset.test_counts)):
            _check_pixels(f"x_{part}", arrays[f"x_{part}"], (sum(counts), *dataset.image_shape))
            arrays[f"y_{part}"] = _checked_labels(f"y_{part}", arrays[f"y_{part}"], counts)
        sha256 = content_sha256(arrays)
        if original and sha256 != dataset.content:
            raise CorruptData(f"the content has SHA-256 {sha256} instead of {dataset.content}")
    except CorruptData as error:
        raise CorruptData(f"{path}: {error}") from None
    name = dataset.name if sha256 == dataset.content else f"{dataset.name} (foreign copy {sha256[:8]})"
    x, y, x_test, y_test = (arrays[key] for key in KEYS)
    return Images(name, sha256, x, y, x_test, y_test, dataset.n_validation)


def _check_pixels(name: str, x: NDArray[Any], shape: tuple[int, ...]) -> None:
    if x.dtype != np.uint8 or x.shape != shape:
        raise CorruptData(f"{name} must be uint8 of shape {shape}, got {x.dtype} of shape {x.shape}")


def _checked_labels(name: str, y: NDArray[Any], counts: tuple[int, ...]) -> Array:
    """The labels in one column as uint8."""
    if y.shape[1:] == (1,):
        y = y[:, 0]
    if not np.issubdtype(y.dtype, np.integer) or y.shape != (sum(counts),):
        raise CorruptData(f"{name} must be integers of shape ({sum(counts)},), got {y.dtype} of shape {y.shape}")
    labels, found = np.unique(y, return_counts=True)
    if labels.tolist() != list(range(len(counts))) or found.tolist() != list(counts):
        raise CorruptData(
            f"the images per class in {name} must be {list(counts)} for the labels 0 to {len(counts) - 1}, "
            f"got {found.tolist()} for the labels {labels.tolist()}"
        )
    return y.astype(np.uint8)
