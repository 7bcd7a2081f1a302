"""Quality against queries: ours and its peers at equal numbers of counted model evaluations.

python -m benchmarks.queries
"""
