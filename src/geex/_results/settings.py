"""What an explanation was made with, as values that can be compared, shown and saved."""

from dataclasses import dataclass, fields
from typing import Any

from geex._problem.declared import Call, Unnamed, Value
from geex._stored_names import stored


@stored("settings/1")
@dataclass(frozen=True)
class Settings:
    """The settings of a run.

    method, features, score, baseline, stop: as they were passed; None: there was none.
    absence: what the baseline stands for, where the model has a word for it.
    baselines: how many there were. sigma: the noise that each was explained with; None where none was added.
    queries: the budget. twice: whether the model was asked for x a second time.
    bounds: the lowest and the highest. fingerprints: of what was asked, one for each baseline.
    library: that of the arrays. version: that of geex.
    """

    method: Value
    features: Value = None
    score: Value = None
    baseline: Value = None
    absence: str | None = None
    baselines: int = 1
    stop: Value = None
    queries: int | None = None
    twice: bool = True
    bounds: tuple[float, float] | None = None
    seed: int | None = None
    sigma: tuple[float | None, ...] = ()
    fingerprints: tuple[str, ...] = ()
    library: str = "numpy"
    version: str = ""

    @property
    def against(self) -> str:
        """What x was compared with, in words; "" where that is not known."""
        if self.absence is not None:
            return self.absence
        return "" if self.baseline is None else str(self.baseline)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields in values that JSON can hold: calls as texts."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def _plain(value: Value) -> Any:
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, Call | Unnamed) else value
