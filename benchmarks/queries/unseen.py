"""The share of variance of unseen random masks that an explanation predicts.

    z = x where the mask shows, x̊ elsewhere;   predicted score of z: Σ ξ over the pixels that show
    share = max(r, 0)²,  r the correlation of predicted and true score over masks of one kind, taken together

Half of the masks show cells of a grid independently of each other, half are cut from smooth Gaussian fields; they show
¼, ½, ¾ and 9/10 of the image in turn. Both scores are relative to their mean over the masks of the same half and share.
Otherwise the share shown would explain half of the variance, whatever the values. Masks are a case's own, from a
seed that no method draws from, and the same for all methods. The true score is the probability, and for a second number
its log-odds, bounded at ±6.9.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from scipy.special import ndtri
from torch import Tensor

from benchmarks.paper.cases import Case, CaseSet
from benchmarks.paper.contenders import probability
from benchmarks.queries.peers import absence
from geex._arrays.random_stream import Stream
from geex._plan.presence_masks import smooth_fields
from geex._problem.outputs import log_odds

MASKS = 240  # half of them a multiple of the number of shares
SHARES = (0.25, 0.5, 0.75, 0.9)
WIDTHS = (1 / 14, 1 / 7, 1 / 4)  # of the smooth fields, as parts of the side
MEASURED = f"{MASKS} masks, shares {SHARES}, widths {[round(width, 3) for width in WIDTHS]}, within kinds"
FLOOR = 1e-3
PLACE = 77  # in the seed's streams, apart from those that explanations draw from


@dataclass(frozen=True, eq=False)
class Unseen:
    """Masks over the pixels of the cases of a set, and the model's answers to them, computed once for each case."""

    home: CaseSet
    cells: int
    answered: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def predicted(self, case: Case, values: np.ndarray) -> dict[str, float]:
        """The share that values (height, width) predict."""
        masks, answers = self._answered(case)
        sums = masks.flatten(1).double() @ torch.as_tensor(values, device=masks.device).double().ravel()
        scores = {"probability": answers, "log-odds": log_odds(answers.clip(0, 1), FLOOR)}
        return {name: _share(sums, score) for name, score in scores.items()}

    @torch.no_grad()
    def _answered(self, case: Case) -> tuple[Tensor, Tensor]:
        if case.name not in self.answered:
            model = probability(self.home.network, case.target, self.home.half)
            shown = torch.from_numpy(masks(case.seed, tuple(case.x.shape[1:]), self.cells)).to(case.x.device)
            parts = shown.split(self.home.batch or 60)
            answers = [model(torch.where(part[:, None], case.x, absence(case))) for part in parts]
            self.answered[case.name] = shown, torch.cat(answers)
        return self.answered[case.name]


def masks(seed: int, shape: tuple[int, ...], cells: int) -> np.ndarray:
    """(MASKS, height, width), true where the image shows. They depend on the arguments alone."""
    stream = Stream(seed, (PLACE,), np.empty(0, np.float32))
    shares = np.resize(SHARES, MASKS // 2)[:, None, None]
    blocks = stream.uniform((MASKS // 2, cells, cells)) < shares
    rows, columns = (np.arange(n) * cells // n for n in shape)
    widths = np.resize(np.repeat(WIDTHS, len(SHARES)), MASKS // 2) * shape[0]
    smooth = smooth_fields(stream, shape, (0, 1), widths) < ndtri(shares)
    return np.concatenate([blocks[:, rows[:, None], columns], smooth])


def _share(sums: Tensor, scores: Tensor) -> float:
    a, b = _within_kinds(sums), _within_kinds(scores)
    length = float(a.norm() * b.norm())
    return max(float(a @ b) / length, 0.0) ** 2 if length > 0 else 0.0


def _within_kinds(numbers: Tensor) -> Tensor:
    """Numbers of all masks, less their mean over masks of the same half and share."""
    kinds = numbers.reshape(2, -1, len(SHARES))
    return (kinds - kinds.mean(1, keepdim=True)).ravel()
