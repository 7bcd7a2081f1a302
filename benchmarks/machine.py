"""The machine of a benchmark, and the folder of its results."""

import json
import os
import platform
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """Return processor, GPU and versions, without the machine's name."""
    torch = import_module("torch") if find_spec("torch") else None

    import geex

    names = [line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "gpu": torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else None,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": None if torch is None else torch.__version__,
        "geex": geex.__version__,
    }


def record(name: str, results: dict[str, Any], folder: Path = RESULTS) -> Path:
    """Write results with the machine's description to `folder`/name.json."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), **results}, indent=2, ensure_ascii=False) + "\n")
    return path


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []
