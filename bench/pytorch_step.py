#!/usr/bin/env python3
"""The yardstick of bench/train_step: one training step of the same network in PyTorch eager.

Builds ResNet-N DetectNet_v2 (the layout of src/network/backbones.cpp), trains on synthetic input with the reference's
losses (coverage BCE, box L1 weighted by coverage_norm, L1 regulariser) and Adam, and prints one JSON line with the
median images per second over timed blocks of steps. Nothing of this file is used by the product.
"""
import argparse
import json
import time

import torch
from torch import nn
import torch.nn.functional as F

REPEATS = {"resnet10": [1, 1, 1, 1], "resnet18": [2, 2, 2, 2], "resnet34": [3, 4, 6, 3]}


class Unit(nn.Module):
    def __init__(self, cin, cout, stride, project):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1)
        self.bn1 = nn.BatchNorm2d(cout, eps=1e-3, momentum=0.01)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1)
        self.bn2 = nn.BatchNorm2d(cout, eps=1e-3, momentum=0.01)
        self.shortcut = None
        if project:
            self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride),
                                          nn.BatchNorm2d(cout, eps=1e-3, momentum=0.01))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        skip = x if self.shortcut is None else self.shortcut(x)
        return F.relu(y + skip, inplace=True)


class DetectNet(nn.Module):
    def __init__(self, backbone, classes, all_projections):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 7, 2, 3)
        self.stem_bn = nn.BatchNorm2d(64, eps=1e-3, momentum=0.01)
        units, cin = [], 64
        for cout, stride, repeats in zip([64, 128, 256, 512], [2, 2, 2, 1], REPEATS[backbone]):
            for r in range(repeats):
                units.append(Unit(cin, cout, stride if r == 0 else 1, r == 0 or all_projections))
                cin = cout
        self.units = nn.Sequential(*units)
        self.bbox = nn.Conv2d(cin, 4 * classes, 1)
        self.cov = nn.Conv2d(cin, classes, 1)

    def forward(self, x):
        x = self.units(F.relu(self.stem_bn(self.stem(x)), inplace=True))
        return self.bbox(x).float(), torch.sigmoid(self.cov(x).float())


def loss_of(bbox, cov, target_bbox, target_cov, weight):
    eps, fg = 1e-5, 0.05
    bce = -(target_cov * torch.log(cov + eps) + (1 - target_cov) * torch.log(1 - cov + eps))
    cov_cost = (torch.where(target_cov > 0.5, fg, 1 - fg) * bce).mean()
    n, c, h, w = cov.shape
    box_cost = (weight.unsqueeze(2) * (bbox - target_bbox).abs().view(n, c, 4, h, w)).mean()
    return cov_cost + 10 * box_cost


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backbone", default="resnet18", choices=REPEATS)
    parser.add_argument("--size", default="960x544")
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16", "fp16"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--steps", type=int, default=10, help="steps in a timed block")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--no-all-projections", action="store_true")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--no-regulariser", action="store_true",
                        help="leave out the L1 term, whose many small kernels cost autograd dearly")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    cuda = args.device.startswith("cuda")
    width, height = map(int, args.size.split("x"))
    net = DetectNet(args.backbone, args.classes, not args.no_all_projections).to(args.device)
    x = torch.rand(args.batch, 3, height, width, device=args.device)
    if args.channels_last or cuda:
        net = net.to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)
    gh, gw = height // 16, width // 16
    target_cov = (torch.rand(args.batch, args.classes, gh, gw, device=args.device) > 0.97).float()
    target_bbox = torch.randn(args.batch, 4 * args.classes, gh, gw, device=args.device)
    fused = {"fused": True} if cuda else {}
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-4, **fused)
    dtype = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}[args.precision]
    convs = [p for m in net.modules() if isinstance(m, nn.Conv2d) for p in m.parameters()]

    def step():
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast(args.device.split(":")[0], dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            bbox, cov = net(x)
        total = loss_of(bbox, cov, target_bbox, target_cov, target_cov)
        if not args.no_regulariser:
            total = total + 3e-9 * sum(p.abs().sum() for p in convs)
        total.backward()
        optimiser.step()

    for _ in range(3 if cuda else 1):
        step()
    rates = []
    for _ in range(args.blocks):
        if cuda:
            torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(args.steps):
            step()
        if cuda:
            torch.cuda.synchronize()
        rates.append(args.steps * args.batch / (time.perf_counter() - begin))
    rates.sort()
    print(json.dumps({"what": "pytorch_eager", "version": torch.__version__, "device": args.device,
                      "threads": torch.get_num_threads(), "backbone": args.backbone, "size": args.size,
                      "batch": args.batch, "precision": args.precision,
                      "images_per_second": round(rates[len(rates) // 2], 3),
                      "min": round(rates[0], 3), "max": round(rates[-1], 3)}))


if __name__ == "__main__":
    main()
