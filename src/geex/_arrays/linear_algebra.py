"""Sums and products of arrays in any library, and triangular systems."""

from math import prod

import numpy as np
from array_api_compat import is_numpy_array, is_torch_array
from scipy.linalg import solve_triangular

from geex._arrays.arrays import Array, accelerated, host, like, namespace
from geex._arrays.blas import PRODUCTS, one_thread

# The side of a matrix along an axis of an image up to which one BLAS thread is faster: there are many such products,
# and threads would wait for each other at every one.
SIDE = 512


def segment_sum(rows: Array, order: np.ndarray, lengths: np.ndarray) -> Array:
    """Return sums of `rows` (n, p) over runs of columns: columns in `order`, then summed in runs of `lengths`."""
    xp = namespace(rows)
    if is_torch_array(rows):
        columns = rows.T[like(order, rows, xp.int64)]
        return xp.segment_reduce(columns, "sum", lengths=like(lengths, rows, xp.int64), axis=0).T
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return like(np.add.reduceat(host(rows)[:, order], starts, axis=1), rows)


def multiply_along(grid: Array, axis: int, matrix: Array) -> Array:
    """Return Σ_i grid[…, i, …] matrix[i, j] for i along an axis, without a copy of the grid."""
    xp, shape = namespace(grid), tuple(grid.shape)
    before, after = shape[:axis], shape[axis + 1 :]
    rows = xp.reshape(grid, (-1, shape[axis], prod(after)))
    with one_thread(max(matrix.shape) <= SIDE):
        made = rows[:, :, 0] @ matrix if prod(after) == 1 else matrix.T @ rows
    return xp.reshape(made, (*before, matrix.shape[1], *after))


def host_unless_accelerated(array: Array) -> Array:
    """Return the array in NumPy, without a copy, unless it is on an accelerator: NumPy makes small products faster."""
    return array if accelerated(array) else host(array)


def solver_precision(array: Array) -> Array:
    """Return the array in a type whose products can be solved with.

    On an accelerator this is float64: products of float32 may have ten bits there (TF32). Elsewhere the type stays.
    """
    return namespace(array).astype(array, namespace(array).float64, copy=False) if accelerated(array) else array


def gram(rows: Array) -> Array:
    """Return rowsᵀ rows (q, q)."""
    own = host_unless_accelerated(rows)  # NumPy recognises a symmetric product, and computes half of it
    with one_thread(own.shape[0] * own.shape[1] ** 2 <= PRODUCTS):
        return like(own.T @ own, rows)


def triangular_solve(lower: Array, right: Array, transposed: bool = False) -> Array:
    """Return L⁻¹ right, or L⁻ᵀ right, for a lower triangular L."""
    if is_torch_array(lower):
        return namespace(lower).linalg.solve_triangular(lower.T if transposed else lower, right, upper=transposed)
    if is_numpy_array(lower):
        with one_thread(lower.shape[0] * prod(right.shape) <= PRODUCTS):
            return solve_triangular(lower, right, trans=int(transposed), lower=True, check_finite=False)
    return namespace(lower).linalg.solve(lower.T if transposed else lower, right)
