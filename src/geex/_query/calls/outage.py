"""While a service fails, one job alone calls it, and the others wait: an outage does not multiply calls by threads.

An outage begins with as many failures in a row as calls are made at a time. It ends with the first success.
"""

import threading

from geex._query.rate_limit import Stopped

# Seconds between looks at `stop` of a thread that waits for the end of an outage.
LOOK_AGAIN = 0.2
# The fewest failures in a row that are an outage.
FEWEST_FAILURES = 2


class Outage:
    """The failures in a row of all threads of a process. A job is any object that stands for it.

    The jobs that wait share the fate of the one that calls: its success, or the error of its last attempt.
    """

    def __init__(self, at_a_time: int, stop: threading.Event) -> None:
        self.stop = stop
        self._threshold = max(FEWEST_FAILURES, at_a_time)
        self._failures = 0
        self._probe: object | None = None  # the job that calls the service during an outage
        self._error: Exception | None = None  # that of its last attempt
        self._changed = threading.Condition()

    def wait(self, job: object) -> None:
        """Wait until the job may call the service. Raise Stopped if the run ends first, or the error of the outage."""
        with self._changed:
            while self._lasts and self._probe not in (None, job):
                self._changed.wait(LOOK_AGAIN)
                if self.stop.is_set():
                    raise Stopped
            if self._error is not None:
                raise self._error
            if self._lasts:
                self._probe = job

    @property
    def _lasts(self) -> bool:
        return self._failures >= self._threshold and self._error is None

    def ended_by(self, error: Exception) -> None:
        """Raise the error in all jobs: the service has failed to the last attempt. Outside of an outage do nothing."""
        with self._changed:
            if self._lasts:
                self._error = error
                self._changed.notify_all()

    def failed(self) -> None:
        """Count a failure."""
        with self._changed:
            self._failures += 1

    def succeeded(self) -> None:
        """End the outage."""
        if self._failures or self._probe is not None:
            with self._changed:
                self._failures, self._probe = 0, None
                self._changed.notify_all()

    def given_up(self, job: object) -> None:
        """Let another job call the service, if this one was the only one to do so."""
        with self._changed:
            if self._probe is job:
                self._probe = None
                self._changed.notify_all()
