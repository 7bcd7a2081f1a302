"""While a service fails, one job calls it, and the others wait."""

import threading

import pytest

from geex._query.calls.outage import Outage
from geex._query.rate_limit import Stopped


def waiting(outage, job):
    """Start a thread that waits, and return it with what came of it."""
    found = []

    def run():
        try:
            outage.wait(job)
            found.append("may call")
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, found


def broken(stop=None):
    """An outage of three jobs, the first of which calls."""
    outage = Outage(3, stop or threading.Event())
    for _ in range(3):
        outage.failed()
    outage.wait("first")
    return outage


def test_few_failures_are_no_outage():
    outage = Outage(3, threading.Event())
    for job in range(5):
        outage.failed()
        outage.failed()
        outage.wait(job)
        outage.succeeded()


def test_the_others_wait_for_a_success():
    outage = broken()
    thread, found = waiting(outage, "second")
    outage.failed()
    outage.wait("first")
    assert not found
    outage.succeeded()
    thread.join(10)
    assert found == ["may call"]


def test_another_job_follows_one_that_gave_up():
    outage = broken()
    thread, found = waiting(outage, "second")
    outage.given_up("first")
    thread.join(10)
    assert found == ["may call"]


def test_the_error_of_the_last_attempt_is_that_of_all():
    outage, error = broken(), TimeoutError("the last one")
    thread, found = waiting(outage, "second")
    outage.ended_by(error)
    thread.join(10)
    assert found == [error]
    with pytest.raises(TimeoutError):
        outage.wait("third")


def test_the_end_of_the_run_ends_the_wait():
    stop = threading.Event()
    thread, found = waiting(broken(stop), "second")
    stop.set()
    thread.join(10)
    assert isinstance(found[0], Stopped)
