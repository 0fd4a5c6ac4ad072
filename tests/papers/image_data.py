"""Images for the studies of Harder, Bauer and Park: MNIST, Fashion-MNIST, and installed digits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from dpexplain import Classes, Numeric, Schema
from dpexplain.datasets import load_fashion_mnist, load_mnist

DELTA = 1e-5

_LOADERS = {"mnist": load_mnist, "fashion_mnist": load_fashion_mnist}


@dataclass(frozen=True)
class Images:
    """Training and test images of one data set.

    Attributes
    ----------
    X_train, X_test : DataFrame or ndarray of shape (n_samples, side * side)
    y_train, y_test : Series or ndarray of shape (n_samples,)
        Labels as the schema names them.
    schema : Schema
    side : int
        Images are square.
    """

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    schema: Schema
    side: int

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings of every locally linear model of these images."""
        return {"schema": self.schema, "grid_shape": (self.side, self.side)}

    @property
    def private_settings(self) -> dict[str, Any]:
        """Return the further settings of private models; the number of images is public."""
        return {"delta": DELTA, "n_public": len(self.X_train), "structure_seed": 0}


@lru_cache(maxsize=1)
def images(name: str) -> Images:
    """Load one data set of images.

    Parameters
    ----------
    name : {"mnist", "fashion_mnist", "digits"}
        The last one is installed with scikit-learn: 1,797 images of 8 x 8, a fifth for the test.

    Returns
    -------
    Images
    """
    if name == "digits":
        return _digits()
    train, test = _LOADERS[name]("train"), _LOADERS[name]("test")
    return Images(train.X, train.y, test.X, test.y, train.schema, 28)


def _digits() -> Images:
    digits = load_digits()
    names = [f"row {place // 8}, column {place % 8}" for place in range(64)]
    labels = [str(digit) for digit in range(10)]
    schema = Schema({name: Numeric(0, 16) for name in names}, target=Classes(labels))
    parts = train_test_split(digits.data, digits.target.astype(str), test_size=0.2, random_state=0)
    X_train, X_test, y_train, y_test = parts
    return Images(X_train, y_train, X_test, y_test, schema, 8)
