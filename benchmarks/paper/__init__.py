"""The paper's experiments: its Table 1 and its figures, from one command.

python -m benchmarks.paper [--quick]
"""
