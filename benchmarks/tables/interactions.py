"""python -m benchmarks.tables.interactions: interactions of pairs, ours and two of shapiq, against exact ones.

The models are those of at most 13 columns and the sums of unanimity games. The error is Σ |Î − I|² / Σ |I|².
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.tables.cases import Case, settings
from benchmarks.tables.entrants import Counted, ours

BUDGETS = (200, 500, 1000)
# Columns up to which pairs are estimated by all.
MOST = 40

Found = tuple[np.ndarray, float | None]


def own(game: Counted, case: Case, queries: int) -> Found:
    """Return ours, and the coverage of 95% intervals."""
    found = ours(game, case, queries).interactions()
    low, high = found.interval()
    slack = 1e-9 * np.linalg.norm(case.pairs)
    inside = (low - slack <= case.pairs) & (case.pairs <= high + slack)
    return found.values, float(inside[np.triu_indices(len(low), 1)].mean())


def _shapiq(name: str, **options: str) -> Callable[[Counted, Case, int], Found]:
    def explain(game: Counted, case: Case, queries: int) -> Found:
        from shapiq import approximator

        q = len(case.exact)
        estimator = getattr(approximator, name)(q, max_order=2, random_state=case.seed, **options)
        found = estimator.approximate(queries, game)
        return np.array([[found[(j, k)] if j < k else 0.0 for k in range(q)] for j in range(q)]), None

    return explain


ENTRANTS = {
    "ours": own,
    "ProxySHAP": _shapiq("ProxySHAP", index="k-SII"),
    "KernelSHAP-IQ": _shapiq("KernelSHAPIQ", index="k-SII"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for setting in settings():
        cases = [case for case in setting.cases(options.rows) if case.pairs is not None and len(case.exact) <= MOST]
        for budget in BUDGETS if cases else ():
            cells = []
            for name, explain in ENTRANTS.items():
                results = [explain(Counted(case.game), case, budget) for case in cases]
                upper = np.triu_indices(len(cases[0].exact), 1)
                off = sum(
                    np.sum((found - case.pairs)[upper] ** 2) for (found, _), case in zip(results, cases, strict=True)
                )
                cells.append(f"{name} {off / sum(np.sum(case.pairs[upper] ** 2) for case in cases):.2g}")
                cells += [f"(coverage {np.mean([held for _, held in results]):.1%})"] if name == "ours" else []
            print(f"{setting.name}, {budget}: {', '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
