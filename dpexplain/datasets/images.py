"""Grayscale images of 28 x 28 pixels: MNIST and Fashion-MNIST."""

from __future__ import annotations

import gzip
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpexplain.datasets._dataset import Dataset
from dpexplain.datasets._files import DataFile, local_path
from dpexplain.schema import Classes, Numeric, Schema

Subset = Literal["train", "test"]

IMAGE_SHAPE: Final = (28, 28)
"""Rows and columns of an image; the features of the data sets are its pixels, row by row."""

_PARTS: Final = {"train": "train", "test": "t10k"}
_FASHION: Final = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
_SHA256: Final[dict[str, dict[str, str]]] = {
    "mnist": {
        "train-images-idx3": ("ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
        "train-labels-idx1": ("65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
        "t10k-images-idx3": ("0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
        "t10k-labels-idx1": ("ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
    },
    "fashion_mnist": {
        "train-images-idx3": ("c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"),
        "train-labels-idx1": ("bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"),
        "t10k-images-idx3": ("5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"),
        "t10k-labels-idx1": ("0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"),
    },
}
"""Checksums of the unpacked files."""
_URLS: Final = {
    "mnist": "https://ossci-datasets.s3.amazonaws.com/mnist",
    "fashion_mnist": "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
}


def load_mnist(subset: Subset = "train") -> Dataset:
    """Load MNIST: images of handwritten digits.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Part of the published split: 60,000 training images or 10,000 test images.

    Returns
    -------
    Dataset
        A classification dataset. The features are the 784 gray levels of an image, from 0 to 255,
        row by row, and the target is the digit.

    Raises
    ------
    ValueError
        If `subset` is not an allowed value, or a file has the wrong checksum.
    ConnectionError
        If the files are not on this machine and cannot be downloaded.

    References
    ----------
    .. [1] LeCun, Cortes and Burges, "The MNIST Database of Handwritten Digits", 1998.
    """
    return _images(
        "mnist",
        subset,
        Classes([str(digit) for digit in range(10)], name="digit"),
        source="Yann LeCun, Corinna Cortes and Chris Burges, http://yann.lecun.com/exdb/mnist/",
        licence="commonly given as CC BY-SA 3.0",
        description="One row is the image of a handwritten digit; the target is the digit.",
        citation=(
            "LeCun, Y., Bottou, L., Bengio, Y. and Haffner, P. (1998). Gradient-based learning "
            "applied to document recognition. Proceedings of the IEEE 86(11), 2278-2324."
        ),
    )


def load_fashion_mnist(subset: Subset = "train") -> Dataset:
    """Load Fashion-MNIST: images of articles of clothing.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Part of the published split: 60,000 training images or 10,000 test images.

    Returns
    -------
    Dataset
        A classification dataset. The features are the 784 gray levels of an image, from 0 to 255,
        row by row, and the target is the kind of article.

    Raises
    ------
    ValueError
        If `subset` is not an allowed value, or a file has the wrong checksum.
    ConnectionError
        If the files are not on this machine and cannot be downloaded.

    References
    ----------
    .. [1] Xiao, Rasul and Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking
       Machine Learning Algorithms", 2017, arXiv:1708.07747.
    """
    return _images(
        "fashion_mnist",
        subset,
        Classes(list(_FASHION), name="article"),
        source="Zalando Research, https://github.com/zalandoresearch/fashion-mnist",
        licence="MIT",
        description="One row is the image of an article of clothing; the target is its kind.",
        citation=(
            "Xiao, H., Rasul, K. and Vollgraf, R. (2017). Fashion-MNIST: a Novel Image Dataset "
            "for Benchmarking Machine Learning Algorithms. arXiv:1708.07747."
        ),
    )


def _images(name: str, subset: Subset, target: Classes, **facts: Any) -> Dataset:
    if subset not in _PARTS:
        raise ValueError(f"subset={subset!r} must be 'train' or 'test'.")
    part = _PARTS[subset]
    pixels = _read(name, f"{part}-images-idx3")
    codes = _read(name, f"{part}-labels-idx1")
    features = {
        f"row {row + 1}, column {column + 1}": Numeric(
            0, 255, description="Gray level, from background to ink or cloth"
        )
        for row, column in np.ndindex(*IMAGE_SHAPE)
    }
    return Dataset(
        pd.DataFrame(pixels.reshape(len(pixels), -1), columns=list(features)),
        pd.Series(np.array(target.labels, dtype=object)[codes], name=target.name),
        schema=Schema(features, target=target),
        name=name,
        **facts,
    )


def _read(name: str, stem: str) -> NDArray[np.uint8]:
    """Read an array of bytes from a gzip-compressed IDX file.

    The file contains the number of dimensions, the sizes (big-endian), and the values.
    """
    archive = f"{stem}-ubyte.gz"
    url, sha256 = f"{_URLS[name]}/{archive}", _SHA256[name][stem]
    file = DataFile(name, archive, url, sha256, unpack=gzip.decompress)
    content = gzip.decompress(local_path(file).read_bytes())
    n_dimensions = content[3]
    sizes = np.frombuffer(content, dtype=">u4", count=n_dimensions, offset=4)
    values = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_dimensions)
    return values.reshape(tuple(int(size) for size in sizes))
