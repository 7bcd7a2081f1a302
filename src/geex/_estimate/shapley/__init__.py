"""Shapley values: exact, and by processes over subsets, trees and their errors."""
