"""Entrants, numbers of photos, and the order of the work."""

from importlib.util import find_spec

from benchmarks.paper.contenders import Contender, contenders
from benchmarks.paper.settings import Setting
from benchmarks.queries.peers import Default, KernelShap, Occlusion, Partition, ShapleySampling
from geex._explain.defaults import PHOTOS, SMALL_IMAGES
from geex._problem.outputs import AUTO

BUDGETS = (100, 200, 500, 1000, 2000, 5000)
FIRST, LATER = (500, 5000), (100, 200, 1000, 2000)
OURS = "ours"
WHITE = ("ig", "sg-input")
RIVALS = ("geex-half", "geex", "rise", "lime")
CAPTUM = ("occlusion", "kernelshap", "sampling")
NEEDS = {"occlusion": ("captum",), "kernelshap": ("captum", "sklearn"), "sampling": ("captum",), "partition": ("shap",)}

# The most important results come first, so that an interrupted run is useful. A round goes through all data sets:
# entrants, budgets, and the number of photos (None: all).
Phase = tuple[tuple[str, ...], tuple[int, ...], int | None]
ROUNDS: tuple[tuple[Phase, ...], ...] = (
    (((OURS,), BUDGETS, None), (WHITE, (), None), (RIVALS, FIRST, 30)),
    ((CAPTUM, FIRST, 20),),
    ((("ours-other",), BUDGETS, None), (("ours-probability",), BUDGETS, 20)),
    ((RIVALS, LATER, 30), (CAPTUM, LATER, 20), (RIVALS, FIRST, None)),
    ((("partition",), BUDGETS, 4), (RIVALS, LATER, None)),
)


def entrants(setting: Setting) -> dict[str, Contender]:
    """Return all entrants, by their names on the command line, in the order of tables."""
    known = {row.key: row for row in contenders(setting)}
    photos = setting.step > 100
    most, shape = (14, (3, 224, 224)) if photos else (7, (1, 28, 28))
    other = Default(shape=shape, method=SMALL_IMAGES if photos else PHOTOS, score=AUTO)
    own = [
        Contender(OURS, "ours", None, Default(shape=shape)),
        Contender("ours-other", f"ours, set as for {'small images' if photos else 'photos'}", None, other),
        Contender("ours-probability", "ours, probability", None, Default(shape=shape, score="answer")),
    ]
    others = [
        Contender("occlusion", "Occlusion (captum)", None, Occlusion()),
        Contender("kernelshap", "KernelShap (captum)", None, KernelShap(most=most)),
        Contender("sampling", "ShapleyValueSampling (captum)", None, ShapleySampling(most=most)),
        Contender("partition", "Partition (shap)", None, Partition()),
    ]
    rows = [*own, *(known[name] for name in RIVALS), *others, *(known[name] for name in WHITE)]
    return {row.key: row for row in rows}


def missing(key: str) -> list[str]:
    """Return the missing packages of an entrant."""
    return [name for name in NEEDS.get(key, ()) if find_spec(name) is None]
