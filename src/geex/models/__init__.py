"""Models of all kinds as callables (n, *shape) -> (n,) or (n, k).

An adapter is a description: it opens and calls nothing when it is made, can be pickled, and is opened once in every
process that calls it. The library that it needs is imported then.
"""

from geex.models.http_service import http
from geex.models.onnx_file import onnx
from geex.models.output_adapters import label, link, top
from geex.models.presence_inputs import row, text
from geex.models.pytorch import torch
from geex.models.scikit_learn import sklearn
from geex.models.secrets import env

__all__ = ["env", "http", "label", "link", "onnx", "row", "sklearn", "text", "top", "torch"]
