"""Some ten minutes of faults: kills, fuzzed calls and command lines, damaged files, and an hour of wrong clocks.

`python -m benchmarks.soak` runs it, and writes its figures to results/soak.json and into docs/trust.md.
"""
