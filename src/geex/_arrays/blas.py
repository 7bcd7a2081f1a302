"""Small matrices on one thread.

NumPy's and SciPy's BLAS share out even small products over all cores. Where another library's threads are awake there,
as PyTorch's are for a while after each of its calls, they wait for each other: for matrices of a few hundred rows that
takes several times what the work does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

SMALL = 1024  # rows of a matrix up to which threads wait for each other longer than they save
PRODUCTS = 2**31  # some hundredths of a second: threads that were woken for fewer would be in the way for longer
_held = Lock()


@contextmanager
def one_thread(small: bool = True) -> Iterator[None]:
    """BLAS on one thread, for the whole process, where matrices are small.

    Whoever comes while somebody is inside changes nothing: two that set it and set it back in turns could leave it set.
    """
    if not small or not _held.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _held.release()


@cache
def _blas() -> ThreadpoolController:
    """NumPy's and SciPy's; what they have loaded does not change."""
    return ThreadpoolController().select(internal_api="openblas")
