"""Files come from the user's folder, the cache or the network, and are always checked."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dpexplain import datasets
from dpexplain.datasets import _files
from dpexplain.datasets._files import DataFile, cache_folder, local_path
from dpexplain.datasets.california_housing import _FILE as CALIFORNIA
from dpexplain.datasets.california_housing import csv_of_arff

CONTENT = b"a,b\n1,2\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache, without the user's folder or a proxy."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("DPEXPLAIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dpexplain"


@pytest.fixture
def origin(tmp_path: Path) -> DataFile:
    """Return a file that can be downloaded from this machine."""
    published = tmp_path / "published" / "table.csv"
    published.parent.mkdir()
    published.write_bytes(CONTENT)
    return DataFile("toy", "table.csv", published.as_uri(), hashlib.sha256(CONTENT).hexdigest())


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Return the address of a web server for the published files."""
    handler = partial(_Quiet, directory=str(tmp_path / "published"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def files_under(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_download_is_kept_and_used_again(cache: Path, origin: DataFile, server: str) -> None:
    path = local_path(replace(origin, url=f"{server}/table.csv"))
    assert path == cache / "toy" / "table.csv"
    assert path.read_bytes() == CONTENT
    assert files_under(cache) == [path]
    assert local_path(replace(origin, url="http://127.0.0.1:9/closed")) == path


def test_wrong_checksum_leaves_no_file(cache: Path, origin: DataFile) -> None:
    with pytest.raises(ValueError, match=r"sha256 is \w+, expected 0000") as caught:
        local_path(replace(origin, sha256="0" * 64))
    assert origin.url in str(caught.value)
    assert files_under(cache) == []


def test_page_of_an_error_is_no_file(cache: Path, origin: DataFile, server: str) -> None:
    with pytest.raises(ConnectionError, match="404"):
        local_path(replace(origin, url=f"{server}/gone.csv"))
    assert files_under(cache) == []


def test_download_that_is_too_long_is_refused(
    cache: Path, origin: DataFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_files, "_LARGEST_DOWNLOAD", len(CONTENT) - 1)
    content = CONTENT[: len(CONTENT) - 1]
    shorter = replace(origin, sha256=hashlib.sha256(content).hexdigest())
    with pytest.raises(ValueError, match="expected"):
        local_path(shorter)
    assert files_under(cache) == []


def test_spoilt_file_of_the_cache_is_downloaded_again(cache: Path, origin: DataFile) -> None:
    path = local_path(origin)
    path.write_bytes(b"spoilt")
    assert local_path(origin).read_bytes() == CONTENT


def test_unfinished_write_leaves_no_file(
    cache: Path, origin: DataFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="disk full"):
        local_path(origin)
    assert files_under(cache) == []


def test_offline_error_says_which_file_to_put_where(cache: Path, origin: DataFile) -> None:
    closed = replace(origin, url="http://127.0.0.1:9/table.csv")
    with pytest.raises(ConnectionError) as caught:
        local_path(closed)
    text = str(caught.value)
    for told in (closed.url, str(cache / "toy" / "table.csv"), "DPEXPLAIN_DATA", closed.sha256):
        assert told in text
    assert "toy/table.csv" in text


def test_folder_of_the_user_comes_first(
    cache: Path, origin: DataFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPEXPLAIN_DATA", str(tmp_path / "mine"))
    mine = tmp_path / "mine" / "toy" / "table.csv"
    assert local_path(origin) == cache / "toy" / "table.csv"  # not there yet
    mine.parent.mkdir(parents=True)
    mine.write_bytes(CONTENT)
    assert local_path(origin) == mine


def test_spoilt_file_of_the_user_is_refused_and_kept(
    cache: Path, origin: DataFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPEXPLAIN_DATA", str(tmp_path))
    mine = tmp_path / "toy" / "table.csv"
    mine.parent.mkdir()
    mine.write_bytes(b"spoilt")
    with pytest.raises(ValueError, match=r"does not contain the expected table\.csv") as caught:
        local_path(origin)
    assert str(mine) in str(caught.value)
    assert mine.read_bytes() == b"spoilt"


def test_cache_is_in_the_home_folder_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "dpexplain"


ARFF = (
    b"% a comment\r\n\r\n@RELATION houses\n@attribute a numeric\n@attribute b numeric\n"
    b"@data\n1.50,2\n"
)


def test_arff_becomes_csv_with_the_numbers_as_they_are() -> None:
    assert csv_of_arff(ARFF) == b"a,b\n1.50,2\n"


def test_checksum_is_that_of_the_converted_file(
    cache: Path, origin: DataFile, tmp_path: Path
) -> None:
    (tmp_path / "published" / "table.csv").write_bytes(ARFF)
    converted = hashlib.sha256(b"a,b\n1.50,2\n").hexdigest()
    path = local_path(replace(origin, sha256=converted, convert=csv_of_arff))
    assert path.read_bytes() == b"a,b\n1.50,2\n"


@pytest.mark.parametrize("content", [b"<html>gone</html>", b"\xff\xfe", b""])
def test_download_that_cannot_be_converted_fails_its_checksum(
    cache: Path, origin: DataFile, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "published" / "table.csv").write_bytes(content)
    with pytest.raises(ValueError, match="expected"):
        local_path(replace(origin, convert=csv_of_arff))
    assert files_under(cache) == []


@pytest.mark.skipif(
    not os.environ.get("DPEXPLAIN_DATA"), reason="DPEXPLAIN_DATA names no folder of datasets"
)
def test_conversion_gives_the_file_of_the_checksum() -> None:
    expected = local_path(CALIFORNIA).read_bytes()
    header, _, rows = expected.partition(b"\n")
    attributes = b"".join(b"@attribute %s numeric\n" % name for name in header.split(b","))
    arff = b"% houses\n@relation houses\n\n" + attributes + b"\n@data\n" + rows
    assert hashlib.sha256(csv_of_arff(arff)).hexdigest() == CALIFORNIA.sha256


LOADERS = {
    "load_adult": "adult/adult-train.csv",
    "load_california_housing": "california_housing_statlib/california_housing_statlib.csv",
    "load_fashion_mnist": "fashion_mnist/train-images-idx3-ubyte.gz",
    "load_mnist": "mnist/train-images-idx3-ubyte.gz",
    "load_telco_churn": "telco_churn/Telco-Customer-Churn.csv",
    "load_wine_quality": "wine_quality/winequality-red.csv",
}


@pytest.mark.parametrize(("loader", "file"), LOADERS.items())
def test_every_loader_says_offline_which_file_goes_where(
    cache: Path, monkeypatch: pytest.MonkeyPatch, loader: str, file: str
) -> None:
    def offline(*_: object, **__: object) -> None:
        raise OSError("network is unreachable")

    monkeypatch.setattr(_files.urllib.request, "urlopen", offline)
    with pytest.raises(ConnectionError) as caught:
        getattr(datasets, loader)()
    text = str(caught.value)
    assert str(cache / file) in text
    assert f"set DPEXPLAIN_DATA to a folder that holds {file}" in text
    assert re.search(r"its sha256 is [0-9a-f]{64}\.", text)


def test_every_loader_that_downloads_is_among_those() -> None:
    loaders = {name for name in datasets.__all__ if name.startswith("load_")}
    assert loaders - {"load_fair", "load_randhie"} == set(LOADERS)
