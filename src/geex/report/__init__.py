"""The report: one HTML file that opens in any browser, loads nothing from a network and is made to be passed on."""

from geex.report.notebook import shown
from geex.report.page import Extras, page, write

__all__ = ["Extras", "page", "shown", "write"]
