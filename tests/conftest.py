"""What all tests start from, wherever they are run."""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# the same examples every time, at any speed: pytest --hypothesis-profile=default looks for new ones
settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")

TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Every test is marked by its folder: unit, property, system or benchmarks."""
    for item in items:
        item.add_marker(item.path.relative_to(TESTS).parts[0])


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c():
    """Shells start what runs in the background with Ctrl-C ignored, and processes hand that on to their children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
