"""What a run found: a share for every feature, how sure it is, and what the shares estimate."""

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geex.arrays import Array, host, namespace
from geex.errors import FileError

if TYPE_CHECKING:
    from geex.explain import Record

FORMAT = "geex explanation 1"


@dataclass(frozen=True, eq=False)
class Explanation:
    """Shares of one decision, in the array library and on the device of the explicand.

    values: a share for every feature, in the shape of the features; a leading axis for several targets.
    stderr: the standard error of each, over independent units (mirrored pairs or orthogonal blocks).
    base_value, output: f(x̊) and f(x); the mean over baselines where there are several.
    gap: f(x) − f(x̊) − Σ values, and gap_stderr the standard error of Σ values. What of the gap is more than a
        few gap_stderr is no noise but the blur that the estimand speaks of.
    queries: how many were asked.
    estimand: in words, what the values estimate and whether they add up.
    config: the settings that made it.
    record: plan and answers, from which `geex.estimate` answers other questions with no query; not saved.
    """

    values: Array
    stderr: Array
    base_value: Array | float
    output: Array | float
    gap: Array | float
    gap_stderr: Array | float
    target: int | list[int]
    queries: int
    estimand: str
    config: dict[str, Any]
    record: "Record | None" = field(default=None, repr=False)

    def numpy(self) -> "Explanation":
        """The same with NumPy arrays, whatever library and device made it."""
        arrays: dict[str, Any] = {}
        for name in _ARRAYS:
            value = getattr(self, name)
            arrays[name] = value if isinstance(value, float) else host(value)
        return replace(self, **arrays, record=None)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes all but the record to `path`, an .npz file with no pickle in it."""
        path = Path(path)
        plain = self.numpy()
        facts = {name: getattr(plain, name) for name in ("target", "queries", "estimand", "config")}
        arrays: dict[str, Any] = {name: np.asarray(getattr(plain, name)) for name in _ARRAYS}
        part = path.with_name(path.name + ".part")
        with open(part, "wb") as file:
            np.savez_compressed(file, format=np.array(FORMAT), facts=np.array(json.dumps(facts)), **arrays)
        os.replace(part, path)
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Explanation":
        """Reads what `save` wrote; the arrays are NumPy's."""
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays_file:
                content = {name: arrays_file[name] for name in arrays_file.files}
            if str(content["format"]) != FORMAT:
                raise FileError(f"{path} is in format {str(content['format'])!r}; this version reads {FORMAT!r}.")
            facts = json.loads(str(content["facts"]))
            arrays = {name: content[name] for name in _ARRAYS}
        except (FileError, FileNotFoundError, IsADirectoryError, PermissionError):
            raise
        except Exception as error:
            raise FileError(f"{path} is not an explanation saved by geex ({type(error).__name__}: {error}).") from error
        scalars: dict[str, Any] = {
            k: float(v) if k not in ("values", "stderr") and v.ndim == 0 else v for k, v in arrays.items()
        }
        return cls(**scalars, **facts)

    def __repr__(self) -> str:
        return "\n".join([self._headline(), *self._accounts(), f"  {self.queries:,} queries. {self.estimand}"])

    def _headline(self) -> str:
        what = f"output {self.target}" if isinstance(self.target, int) else f"outputs {self.target}"
        return f"Explanation of {what} by {self.config.get('method')}, values of shape {tuple(self.values.shape)}"

    def _accounts(self) -> list[str]:
        several = not isinstance(self.target, int)
        accounts = []
        for j, target in enumerate(self.target if isinstance(self.target, list) else [self.target]):
            values = host(self.values[j, ...] if several else self.values)
            stderr = host(self.stderr[j, ...] if several else self.stderr)
            ends = [self.output, self.base_value, self.gap, self.gap_stderr]
            output, base, gap, error = (float(end[j]) if several else float(end) for end in ends)  # type: ignore[index]
            place = np.unravel_index(int(np.argmax(np.abs(values))), values.shape)
            top = f"largest {values[place]:+.4g} ± {stderr[place]:.2g} at {tuple(int(i) for i in place)}"
            name = f"  {target}: " if several else "  "
            accounts.append(
                f"{name}f(x) {output:.4g} = f(x̊) {base:.4g} + Σ {values.sum():.4g} + gap {gap:.2g} ± {error:.2g}; {top}"
            )
        shown = 5
        return (
            accounts if len(accounts) <= shown else [*accounts[:shown], f"  … and {len(accounts) - shown} more outputs"]
        )


_ARRAYS = ("values", "stderr", "base_value", "output", "gap", "gap_stderr")


def completed(values: Array, base_value: Array, output: Array) -> Array:
    """The gap f(x) − f(x̊) − Σ values, for every target (k,)."""
    xp = namespace(values)
    return output - base_value - xp.sum(xp.reshape(values, (values.shape[0], -1)), axis=1)
