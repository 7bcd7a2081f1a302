"""Patches of a picture, at which pixels are judged.

Neighbours are shown and hidden together, so answers determine sums over patches far better than single pixels. A pixel
stands out if its patch does and its value has the sign of the patch. A patch is as any feature: it has the sum of its
values, a joint standard error, and a place among all patches in the correction of `findings.py`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geex._results.significance.findings import LEVEL, Findings

if TYPE_CHECKING:
    from geex._results.explanation import Explanation

# Pixels along the side of a patch, at least; and patches along the side of a picture, at most.
PIXELS, PATCHES = 4, 16
# Sides of a picture from which on there are patches.
LEAST_SIDE = 2 * PIXELS


@dataclass(frozen=True, eq=False)
class Patches:
    """The number of the patch of every pixel (p,), and what is found of patches."""

    index: np.ndarray
    findings: Findings

    @property
    def count(self) -> int:
        """How many patches stand out for any output."""
        return int(np.any(self.findings.marks <= 1 - LEVEL, axis=0).sum())

    def marks(self, values: np.ndarray) -> np.ndarray:
        """Return p̃ of every pixel (k, p), given the values (k, p): that of its patch, 1 where the signs differ."""
        signs = np.sign(self.findings.centre)[:, self.index]
        return np.where(np.sign(values) == signs, self.findings.marks[:, self.index], 1.0)


def patch_index(shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the number of the patch of every pixel (p,); None for features that are no picture."""
    if len(shape) != 2 or min(shape) < LEAST_SIDE:
        return None
    rows, columns = (np.arange(side) * min(PATCHES, side // PIXELS) // side for side in shape)
    return np.asarray((rows[:, None] * (columns[-1] + 1) + columns).ravel())


def patches_of(explanation: "Explanation") -> Patches | None:
    """Return the patches of an explained picture; None without answers, errors of sums, or a picture."""
    record = explanation.record
    sums = None if record is None or len(record.targets) != len(explanation.targets) else record.patch_sums
    if sums is None:
        return None
    index, centre, stderr = sums
    around = explanation.findings.resolution
    return Patches(index, Findings(centre, stderr, explanation.freedom, around, neighbours=True))
