"""White-box references for PyTorch models: what a black box is measured against.

    gradient               ∇f(x)
    smoothgrad             1/n Σ_i ∇f(x + σ ε_i)
    integrated_gradients   (x − x̊) ∘ Σ_j w_j ∇f(x(α_j)),  α and w of Gauss and Legendre on [0, 1]
    lrp                    f(x) handed back layer by layer, by the rules of captum

They return what `geex.explain` returns, and `queries` counts the rows that went forward through the module. A group
of elements (`features`) has the sum of its elements' values.
"""

from geex.errors import MissingPackage

try:
    import torch as _torch
except ImportError as error:
    raise MissingPackage(
        "benchmarks.whitebox differentiates PyTorch models, and torch is not installed: pip install torch"
    ) from error

from benchmarks.whitebox.gradients import gradient, integrated_gradients, smoothgrad
from benchmarks.whitebox.relevance import lrp

del _torch

__all__ = ["gradient", "integrated_gradients", "lrp", "smoothgrad"]
