"""Models of all kinds as callables (n, *shape) -> (n,) or (n, k).

An adapter is a description: it opens and calls nothing when it is made, can be pickled, and is opened once in every
process that calls it. The library that it needs is imported then.
"""

from geex.models.estimator import sklearn
from geex.models.onnxfile import onnx
from geex.models.pytorch import torch
from geex.models.returned import label, link, top
from geex.models.secrets import env
from geex.models.service import http
from geex.models.shown import row, text

__all__ = ["env", "http", "label", "link", "onnx", "row", "sklearn", "text", "top", "torch"]
