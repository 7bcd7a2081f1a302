"""The report: one HTML file that opens in any browser, asks no network and is made to be passed on."""

from geex.report.page import page, write

__all__ = ["page", "write"]
