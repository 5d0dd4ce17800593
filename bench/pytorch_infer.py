#!/usr/bin/env python3
"""The yardstick of bench/infer_speed: forward passes of the same network in PyTorch, eager and torch.compile.

Batch norms are folded into the convolutions, as there; weights and activations have the precision's type, outputs are
float32. Prints one JSON line for each way to run. Nothing of this file is used by the product.
"""
import argparse
import json
import time

import torch
from torch.nn.utils.fusion import fuse_conv_bn_eval

from pytorch_step import REPEATS, DetectNet


def fold(net):
    net.stem, net.stem_bn = fuse_conv_bn_eval(net.stem, net.stem_bn), torch.nn.Identity()
    for unit in net.units:
        unit.conv1, unit.bn1 = fuse_conv_bn_eval(unit.conv1, unit.bn1), torch.nn.Identity()
        unit.conv2, unit.bn2 = fuse_conv_bn_eval(unit.conv2, unit.bn2), torch.nn.Identity()
        if unit.shortcut is not None:
            unit.shortcut = fuse_conv_bn_eval(*unit.shortcut)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backbone", default="resnet18", choices=REPEATS)
    parser.add_argument("--size", default="960x544")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16", "fp16"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--passes", type=int, default=50, help="passes in a timed block")
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--classes", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    torch.set_grad_enabled(False)
    cuda = args.device.startswith("cuda")
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[args.precision]
    width, height = map(int, args.size.split("x"))
    net = DetectNet(args.backbone, args.classes, True).eval()
    fold(net)
    net = net.to(args.device, dtype).to(memory_format=torch.channels_last)
    x = torch.rand(args.batch, 3, height, width, device=args.device)

    def forward(pictures):
        return net(pictures.to(dtype, memory_format=torch.channels_last))

    ways = [("eager", forward), ("torch.compile", torch.compile(forward))]
    if cuda:
        ways.append(("torch.compile, graph", torch.compile(forward, mode="reduce-overhead")))
    for name, way in ways:
        for _ in range(5):
            way(x)
        rates = []
        for _ in range(args.blocks):
            if cuda:
                torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(args.passes):
                way(x)
            if cuda:
                torch.cuda.synchronize()
            rates.append(args.passes * args.batch / (time.perf_counter() - begin))
        rates.sort()
        print(json.dumps({"what": "pytorch", "version": torch.__version__, "launch": name, "device": args.device,
                          "network": args.backbone, "size": args.size, "batch": args.batch,
                          "precision": args.precision, "images_per_second": round(rates[len(rates) // 2], 1),
                          "min": round(rates[0], 1), "max": round(rates[-1], 1)}), flush=True)


if __name__ == "__main__":
    main()
