"""Adapters that make callables (n, *shape) -> (n,) or (n, k) out of models of all kinds.

An adapter is a description. Making one opens and calls nothing. It can be pickled. Each process that calls it opens
the model once, and imports the library that it needs at that moment.
"""

from geex.models.http_service import http
from geex.models.onnx_file import onnx
from geex.models.output_adapters import label, link, top
from geex.models.presence_inputs import row, text
from geex.models.pytorch import torch
from geex.models.scikit_learn import sklearn
from geex.models.secrets import env

__all__ = ["env", "http", "label", "link", "onnx", "row", "sklearn", "text", "top", "torch"]
