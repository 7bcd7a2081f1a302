"""BLAS is left as it was found."""

from threading import Barrier, Thread

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info

from geex._arrays.blas import one_thread


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"]


@pytest.fixture(autouse=True)
def loaded():
    scipy.linalg.cholesky(np.eye(2))
    if max(threads(), default=1) == 1:
        pytest.skip("BLAS has one thread as it is")


def test_inside_there_is_one_thread_and_afterwards_what_there_was():
    before = threads()
    with one_thread():
        assert set(threads()) == {1}
        with one_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert threads() == before


def test_two_that_overlap_leave_what_there_was():
    for _ in range(20):
        before, step, seen = threads(), Barrier(2, timeout=60), []

        def first(step=step):
            with one_thread():
                step.wait()  # the other one comes in,
                step.wait()
            step.wait()  # and leaves after this one

        def second(step=step, seen=seen):
            step.wait()
            with one_thread():
                seen.append(threads())
                step.wait()
                step.wait()

        pair = [Thread(target=first), Thread(target=second)]
        for thread in pair:
            thread.start()
        for thread in pair:
            thread.join()
        assert set(seen[0]) == {1}
        assert threads() == before
