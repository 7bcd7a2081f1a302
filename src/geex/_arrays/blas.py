"""Small matrices on one thread.

The BLAS of NumPy and SciPy divides even small products among all cores. If threads of another library are busy there,
as PyTorch's are for a while after each of its calls, the two wait for each other. For matrices of a few hundred rows
this takes several times as long as the product.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

# Rows of a matrix up to which threads wait for each other longer than they save.
SMALL = 1024
# Multiplications that take some hundredths of a second: for fewer, waking threads costs more than it saves.
PRODUCTS = 2**31

_limited = Lock()


@contextmanager
def one_thread(small: bool = True) -> Iterator[None]:
    """Limit BLAS to one thread, for the whole process, if `small` is set.

    Inside another such context of any thread this changes nothing: if two of them set and restored the limit in turns,
    it could stay set.
    """
    if not small or not _limited.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _limited.release()


@cache
def _blas() -> ThreadpoolController:
    """Return the BLAS libraries of NumPy and SciPy. They are loaded once, so this is computed once."""
    return ThreadpoolController().select(internal_api="openblas")
