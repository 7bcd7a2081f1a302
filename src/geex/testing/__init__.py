"""Checks that every extension has to pass. Call them in the tests of your own extension; geex does so in its own.

    geex.testing.check_method(Occlusion(width=3))

A check that fails raises `geex.errors.CheckFailed`, whose `code` is the name of the check.
"""

from geex.testing.families import check_family
from geex.testing.features import check_features
from geex.testing.methods import check_method
from geex.testing.models import check_model
from geex.testing.runners import check_runner
from geex.testing.stops import check_stop

__all__ = ["check_family", "check_features", "check_method", "check_model", "check_runner", "check_stop"]
