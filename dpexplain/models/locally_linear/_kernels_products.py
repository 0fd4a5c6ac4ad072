"""Exact products of matrices of 16-bit integers.

Processors multiply 16-bit integers and add up neighboring products four times as fast as they
multiply floats of double precision, but neither numpy nor a loop compiled by numba uses these
instructions. So one tile of a product is written in the compiler's own language, which is the same
for all processors.

Each tile has 12 sums, each in `LANES` parts of 32 bits. After `CHUNK` products, the parts are added
in 64 bits. A part must not exceed 31 bits: see `largest_factor`.
"""

# mypy: disable-error-code="import-untyped, no-untyped-call, call-arg"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from dpexplain._utils.compiling import njit

LANES = 16 if get_host_cpu_features().get("avx512bw") else 8
"""Number of 32-bit parts of each sum: as many as fit in a register. Results do not depend on it."""

WIDTH = 2 * LANES
"""Number of products at a time: each part adds up pairs of them."""

PADDING = 32
"""Rows are padded with zeros to a multiple of it, which is also one of `WIDTH`."""

CHUNK = 31 * PADDING
"""Largest number of products that are added up in 32 bits."""

N_ROWS, N_COLUMNS = 3, 4
"""Shape of a tile: its sums and operands fit in 16 registers."""

_FEWEST_LANES = 8

_N_CACHED = 16
"""Number of rows of the right operand that stay in the innermost cache."""


def largest_factor(n_products: int, largest: int) -> int:
    """Return how large one operand may be, so that no part of a sum exceeds 31 bits.

    Parameters
    ----------
    n_products : int
        Number of products in a sum.
    largest : int
        Largest absolute value of the other operand.

    Returns
    -------
    int
        At most ``2**15 - 1``.
    """
    of_a_part = min(_up(n_products, PADDING), CHUNK) // _FEWEST_LANES
    return min(2**15 - 1, (2**31 - 1) // (of_a_part * largest))


def padded(values: NDArray[Any], multiple: int, kind: Any = np.int16) -> NDArray[Any]:
    """Copy matrices as short integers, with zeros added to both dimensions.

    Parameters
    ----------
    values : ndarray of shape (n_matrices, n, n_products)
        Integers of at most 15 bits, of any type.
    multiple : int
        The number of rows becomes a multiple of it: `N_ROWS` or `N_COLUMNS`.
    kind : dtype, default=int16
        int8 halves the memory of values that are read again and again.

    Returns
    -------
    ndarray
    """
    n_matrices, n, n_products = values.shape
    found = np.zeros((n_matrices, _up(n, multiple), _up(n_products, PADDING)), dtype=kind)
    found[:, :n, :n_products] = values
    return found


def rounded(
    values: NDArray[np.float64], largest: int, multiple: int
) -> tuple[NDArray[np.int16], float]:
    """Round public matrices to integers, padded.

    Parameters
    ----------
    values : ndarray of shape (n_matrices, n, n_products), dtype float64
        Finite public values.
    largest : int
        Largest absolute value of an integer.
    multiple : int
        As in `padded`.

    Returns
    -------
    integers : ndarray of dtype int16
    unit : float
        Value of one step.
    """
    top = max(float(values.max()), -float(values.min()))
    unit = top / largest if top > 0.0 else 1.0
    steps = values / unit
    return padded(np.rint(steps, out=steps), multiple), unit


def limbs(values: NDArray[np.int64], bits: int, n_limbs: int) -> NDArray[np.int16]:
    """Split integers into limbs, padded as left operands.

    Parameters
    ----------
    values : ndarray of shape (n_matrices, n, n_products), dtype int64
    bits : int
        Number of bits of a limb, including its sign; at most 15.
    n_limbs : int
        Number of limbs; the values must have fewer than ``bits * n_limbs`` bits.

    Returns
    -------
    ndarray of shape (n_matrices, at least n_limbs * n, at least n_products), dtype int16
        The limbs of each matrix below each other, n rows for each. The sum of
        ``limb[k] * 2**(bits * k)`` is the value. Limbs are from ``-2**(bits - 1)`` to
        ``2**(bits - 1)``.
    """
    n_matrices, n, n_products = values.shape
    shape = (n_matrices, _up(n_limbs * n, N_ROWS), _up(n_products, PADDING))
    found = np.zeros(shape, dtype=np.int16)
    _split(values, bits, n_limbs, found)
    return found


def zeros(n_matrices: int, n: int, m: int) -> NDArray[np.int64]:
    """Return zeros to which products of matrices of n and m rows can be added."""
    return np.zeros((n_matrices, n, _up(m, N_COLUMNS)), dtype=np.int64)


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


@njit(cache=True, nogil=True)
def _split(values, bits, n_limbs, found):  # type: ignore[no-untyped-def]
    half, n = np.int64(1) << (bits - 1), values.shape[1]
    for matrix in range(values.shape[0]):
        for i in range(n):
            for j in range(values.shape[2]):
                left = values[matrix, i, j]
                for k in range(n_limbs - 1):
                    left += half
                    found[matrix, k * n + i, j] = (left & (2 * half - 1)) - half
                    left >>= bits
                found[matrix, (n_limbs - 1) * n + i, j] = left


@intrinsic
def _add_tile(  # type: ignore[no-untyped-def]
    typing: Any, left: Any, i: Any, right: Any, j: Any, start: Any, stop: Any,
    bits: Any, out: Any,
):  # fmt: skip
    """Add the products of `N_ROWS` rows and `N_COLUMNS` rows to a tile of `out`."""
    signature = types.void(left, i, right, j, start, stop, bits, out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, long = ir.IntType(32), ir.IntType(64)
        words = ir.VectorType(word, WIDTH)
        parts, longs = ir.VectorType(word, LANES), ir.VectorType(long, LANES)
        indices = ir.VectorType(word, LANES)
        even, odd = (ir.Constant(indices, list(range(k, WIDTH, 2))) for k in (0, 1))
        nothing = ir.Constant(words, ir.Undefined)
        arrays = [
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2, 7)
        ]
        lengths = [cgutils.unpack_tuple(builder, array.shape)[1] for array in arrays]

        def at(array: int, row: Any, column: Any) -> Any:
            return builder.gep(
                arrays[array].data, [builder.add(builder.mul(row, lengths[array]), column)]
            )

        def rows(first: Any, n: int) -> list[Any]:
            return [builder.add(first, ir.Constant(long, k)) for k in range(n)]

        def loaded(array: int, row: Any, column: Any) -> Any:
            place = at(array, row, column)
            stored = ir.VectorType(place.type.pointee, WIDTH)
            values = builder.load(builder.bitcast(place, stored.as_pointer()))
            values.align = place.type.pointee.width // 8
            return builder.sext(values, words)

        of_left, of_right = rows(args[1], N_ROWS), rows(args[3], N_COLUMNS)
        zero = ir.Constant(parts, [0] * LANES)
        sums = {(k, m): cgutils.alloca_once(builder, parts) for k in of_left for m in of_right}
        for place in sums.values():
            builder.store(zero, place)
        step = ir.Constant(long, WIDTH)
        with cgutils.for_range_slice(builder, args[4], args[5], step, long) as (column, _):
            factors = {k: loaded(0, k, column) for k in of_left}
            others = {m: loaded(1, m, column) for m in of_right}
            for (k, m), place in sums.items():
                # The compiler knows this pattern as one instruction: multiply, add neighbors.
                products = builder.mul(factors[k], others[m])
                pairs = builder.add(
                    builder.shuffle_vector(products, nothing, even),
                    builder.shuffle_vector(products, nothing, odd),
                )
                builder.store(builder.add(builder.load(place), pairs), place)
        together = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(long, [longs]), f"llvm.vector.reduce.add.v{LANES}i64"
        )
        n = cgutils.unpack_tuple(builder, arrays[2].shape)[0]
        for (k, m), place in sums.items():
            total = builder.call(together, [builder.sext(builder.load(place), longs)])
            shift = builder.mul(builder.udiv(k, n), args[6])
            target, shifted = at(2, builder.urem(k, n), m), builder.shl(total, shift)
            builder.store(builder.add(builder.load(target), shifted), target)
        return context.get_dummy_value()

    return signature, generate


@njit(cache=True, nogil=True)
def add_products(left, right, bits, out):  # type: ignore[no-untyped-def]
    """Add ``left[k] @ right[k].T`` to ``out[k]`` for each matrix k.

    Parameters
    ----------
    left : ndarray of shape (n_matrices, at least n_limbs * n, n_products), dtype int16
        Limbs below each other, as returned by `limbs`, or whole values. The number of rows is a
        multiple of `N_ROWS`, with zeros below the last limb; n_products is one of `PADDING`.
    right : ndarray of shape (n_matrices, m, n_products), dtype int16 or int8
        m is a multiple of `N_COLUMNS`. For the values, see `largest_factor`.
    bits : int
        Number of bits of a limb.
    out : ndarray of shape (n_matrices, n, m), dtype int64
        All arrays are C-contiguous.
    """
    for matrix in range(left.shape[0]):
        rows, columns, sums = left[matrix], right[matrix], out[matrix]
        for start in range(0, rows.shape[1], CHUNK):
            stop = min(start + CHUNK, rows.shape[1])
            for first in range(0, columns.shape[0], _N_CACHED):
                last = min(first + _N_CACHED, columns.shape[0])
                for i in range(0, rows.shape[0], N_ROWS):
                    for j in range(first, last, N_COLUMNS):
                        _add_tile(rows, i, columns, j, start, stop, bits, sums)
