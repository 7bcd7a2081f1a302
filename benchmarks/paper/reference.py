"""The paper's Table 1: normalised AOPC by deletion, higher is better."""

METHODS = ("SG", "IG", "RISE", "LIME", "GE", "GEEX", "Random")
REPLACEMENTS = ("baseline", "gaussian")

_ROWS = {
    ("mnist", "baseline"): (0.8838, 0.9434, 0.9101, 0.8653, 0.8833, 0.9466, 0.3085),
    ("mnist", "gaussian"): (0.8452, 0.9415, 0.8896, 0.8692, 0.8519, 0.9486, 0.3695),
    ("fashion-mnist", "baseline"): (0.8399, 0.9275, 0.8931, 0.8167, 0.8379, 0.9350, 0.3567),
    ("fashion-mnist", "gaussian"): (0.8341, 0.9219, 0.8708, 0.8085, 0.8341, 0.9362, 0.4293),
    ("inception", "baseline"): (0.3781, 0.8805, 0.7659, 0.6928, 0.3806, 0.7952, 0.4003),
    ("inception", "gaussian"): (0.8557, 0.9155, 0.8699, 0.8837, 0.7289, 0.9058, 0.7434),
}
TABLE = {row: dict(zip(METHODS, numbers, strict=True)) for row, numbers in _ROWS.items()}


def paper(data: str, replacement: str, method: str | None) -> float | None:
    """The paper's number, or None where it has none."""
    return TABLE.get((data, replacement), {}).get(method or "")
