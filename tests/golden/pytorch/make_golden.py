#!/usr/bin/env python3
"""Golden numbers of two small trainings, computed by PyTorch in float64; pytorch_parity_test.cpp compares ours.

    make_golden.py golden.json           computes again and compares, for judge.sh
    make_golden.py golden.json --write   writes the file

Networks, losses and optimisers are written out here from their formulas and share no code with the product. Weights,
pictures and targets come from a hash (`uniform`) that both sides compute, so the file holds results only: outputs,
costs and the losses of ten steps in full; of each gradient and each trained array its norm and two random
projections. The same numbers are also computed in float32; how far those lie from float64 is stored beside them, as
the yardstick of what float32 can reach.
"""
import functools
import json
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F

HEIGHT, WIDTH, BATCH, CLASSES, STEPS = 64, 96, 2, 2, 10
SCALE, OFFSET = 35.0, 0.5
# Options of the product are float32.
EPSILON, MOMENTUM, BETA1, BETA2 = (float(np.float32(x)) for x in (1e-3, 0.99, 0.9, 0.999))


# ---- the hash: FNV-1a of the name, SplitMix64 of the index, 24 bits
def uniform(name, count):
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return (x >> np.uint64(40)).astype(np.float64) / 2.0**24


def array(name, shape, low, high):
    values = low + (high - low) * uniform(name, int(np.prod(shape)))
    return torch.from_numpy(values.astype(np.float32).reshape(shape)).double()


# ---- the network
class Network:
    """Parameters by the product's names; layers are called in any order, and made on first use."""

    def __init__(self, dtype):
        self.dtype, self.parameters, self.moving, self.order = dtype, {}, {}, []

    def parameter(self, name, shape, low, high):
        if name not in self.parameters:
            self.parameters[name] = array(name, shape, low, high).to(self.dtype).requires_grad_(True)
        return self.parameters[name]

    def conv(self, name, x, out, kernel, stride=1, scale=1.0, prior=0.0):
        limit = scale * math.sqrt(6.0 / ((x.shape[1] + out) * kernel * kernel))
        weight = self.parameter(name + "/kernel", (out, x.shape[1], kernel, kernel), -limit, limit)
        bias = self.parameter(name + "/bias", (out,), prior - 0.1, prior + 0.1)
        return F.conv2d(x, weight, bias, stride, kernel // 2)

    def batch_norm(self, name, x):
        channels = x.shape[1]
        gamma = self.parameter(name + "/gamma", (channels,), 0.5, 1.5)
        beta = self.parameter(name + "/beta", (channels,), -0.2, 0.2)
        mean = x.mean((0, 2, 3), keepdim=True)
        variance = ((x - mean) ** 2).mean((0, 2, 3), keepdim=True)
        for array_name, value, start in (("moving_mean", mean, 0.0), ("moving_variance", variance, 1.0)):
            key = f"{name}/{array_name}"
            old = self.moving.get(key, torch.full((channels,), start, dtype=self.dtype))
            self.moving[key] = MOMENTUM * old + (1 - MOMENTUM) * value.detach().flatten()
        normal = (x - mean) / torch.sqrt(variance + EPSILON)
        return normal * gamma.view(1, -1, 1, 1) + beta.view(1, -1, 1, 1)

    def conv_bn(self, conv, bn, x, out, kernel, stride=1):
        return self.batch_norm(bn, self.conv(conv, x, out, kernel, stride))

    def forward(self, x, units, all_projections, neck, priors):
        x = F.relu(self.conv_bn("conv1", "bn_conv1", x, 64, 7, 2))
        last = []
        for block, (filters, stride) in enumerate(zip((64, 128, 256, 512), (2, 2, 2, 1)), 1):
            for unit in range(units):
                p = f"block_{block}{'abcdef'[unit]}"
                s = stride if unit == 0 else 1
                y = F.relu(self.conv_bn(p + "_conv_1", p + "_bn_1", x, filters, 3, s))
                y = self.conv_bn(p + "_conv_2", p + "_bn_2", y, filters, 3)
                if unit == 0 or all_projections:
                    x = self.conv_bn(p + "_conv_shortcut", p + "_bn_shortcut", x, filters, 1, s)
                x = F.relu(y + x)
            last.append(x)
        if neck:
            top = self.conv("neck_conv_top", x, 128, 1).repeat_interleave(2, 2).repeat_interleave(2, 3)
            x = top + self.conv("neck_conv_lateral", last[1], 128, 1)
            x = F.relu(self.conv_bn("neck_conv", "neck_bn", x, 128, 3))
        scale, box_prior, cov_prior = priors
        return (self.conv("output_bbox", x, 4 * CLASSES, 1, scale=scale, prior=box_prior),
                self.conv("output_cov", x, CLASSES, 1, scale=scale, prior=cov_prior))


# ---- the reference's loss
def reference_targets(height, width):
    shape = (BATCH, CLASSES, height, width)
    coverage = torch.where(array("coverage", shape, 0, 1) > 0.7, array("coverage_value", shape, 0, 1), torch.zeros(()).double())
    norm = coverage * array("norm", shape, 0, 1)
    box = array("box", (BATCH, CLASSES, 4, height, width), 0, 2) * (coverage > 0).unsqueeze(2)
    # Products are rounded as the product's float32 targets are.
    return coverage.float(), norm.float(), box.float()


def reference_loss(bbox, logits):
    n, _, h, w = logits.shape
    coverage, norm, box = (t.to(logits.dtype) for t in reference_targets(h, w))
    p = torch.sigmoid(logits)
    foreground = torch.tensor([0.05, 0.2], dtype=torch.float32).to(logits.dtype).view(1, 2, 1, 1)
    entropy = -(coverage * torch.log(p + 1e-5) + (1 - coverage) * torch.log(1 - p + 1e-5))
    cov = (torch.where(coverage > 0.5, foreground, 1 - foreground) * entropy).mean((0, 2, 3))
    boxes = (norm.unsqueeze(2) * (bbox.view(n, CLASSES, 4, h, w) - box).abs()).mean((0, 2, 3, 4))
    class_weight = torch.tensor([1.0, 8.0], dtype=logits.dtype) / 9
    return (class_weight * (cov / 11 + boxes * 10 / 11)).sum(), torch.stack([cov, boxes], 1)


# ---- the task-aligned loss
TRUTHS = [  # picture, x1, y1, x2, y2, class
    (0, 10.0, 8.0, 42.0, 46.0, 0),
    (0, 30.0, 20.0, 62.0, 60.0, 1),
    (0, 70.0, 30.0, 76.0, 37.0, 0),
    (1, 48.0, 4.0, 95.0, 62.0, 1),
]


def iou_parts(a, b):
    inter = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0).prod(-1)
    size_a, size_b = (a[..., 2:] - a[..., :2]).clamp(min=0), b[..., 2:] - b[..., :2]
    return inter / (size_a.prod(-1) + size_b.prod(-1) - inter + 1e-7)


def ciou_cost(a, b):
    iou = iou_parts(a, b)
    hull = torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])
    distance = ((a[..., :2] + a[..., 2:] - b[..., :2] - b[..., 2:]) ** 2).sum(-1) / 4
    size_a, size_b = (a[..., 2:] - a[..., :2]).clamp(min=0), b[..., 2:] - b[..., :2]
    angle = [torch.atan(s[..., 0] / (s[..., 1] + 1e-4)) for s in (size_a, size_b)]
    v = 4 / math.pi**2 * (angle[1] - angle[0]) ** 2
    weight = (v / (v - iou + 1 + 1e-7)).detach()
    return 1 - iou + distance / ((hull**2).sum(-1) + 1e-7) + weight * v


def task_aligned_loss(bbox, logits):
    n, c, h, w = logits.shape
    stride = HEIGHT / h
    gy, gx = torch.meshgrid(torch.arange(h).to(logits) * stride + OFFSET, torch.arange(w).to(logits) * stride + OFFSET, indexing="ij")
    gx, gy = gx.flatten(), gy.flatten()
    d = bbox.view(n, c, 4, h * w) * SCALE
    decoded = torch.stack([gx - d[:, :, 0], gy - d[:, :, 1], gx + d[:, :, 2], gy + d[:, :, 3]], -1)
    quality, truth, owner = torch.zeros(n, h * w).to(logits), torch.zeros(n, h * w, 4).to(logits), torch.zeros(n, h * w).long()
    with torch.no_grad():
        for picture in range(n):
            mine = [t for t in TRUTHS if t[0] == picture]
            boxes = torch.tensor([t[1:5] for t in mine]).to(logits)
            ious, aligns, chosen = [], [], []
            for box, (*_, k) in zip(boxes, mine):
                u = iou_parts(decoded[picture, k], box).clamp(0.01, 1)
                cx, cy = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
                inside = ((gx - cx).abs() <= max((box[2] - box[0]) / 2, stride)) & ((gy - cy).abs() <= max((box[3] - box[1]) / 2, stride))
                a = torch.sigmoid(logits[picture, k].flatten()) * u**6 * inside
                ious.append(u), aligns.append(a), chosen.append(inside & (a >= a.topk(10).values[-1]))
            u, a, m = torch.stack(ious), torch.stack(aligns), torch.stack(chosen)
            best = torch.where(m, u, torch.full_like(u, -1)).argmax(0)
            m = m & (torch.arange(len(mine))[:, None] == best)
            t = a * m / ((a * m).amax(1, keepdim=True) + 1e-12) * (u * m).amax(1, keepdim=True)
            quality[picture], truth[picture] = t.amax(0), boxes[best]
            owner[picture] = torch.tensor([k for *_, k in mine])[best]
    total = quality.sum().clamp(min=1)
    target = F.one_hot(owner, c).permute(0, 2, 1) * quality.unsqueeze(1)
    z = logits.view(n, c, h * w)
    cov = F.binary_cross_entropy_with_logits(z, target, reduction="none").sum((0, 2)) / total
    at = quality > 0
    costs = []
    for k in range(c):
        predicted, wanted = decoded[:, k][at], truth[at]
        size = (wanted[:, 2:] - wanted[:, :2]).repeat(1, 2)
        relative = ((predicted - wanted).abs() / size).mean(-1).clamp(max=10)
        costs.append(((2.5 * ciou_cost(predicted, wanted) + 0.5 * relative) * quality[at]).sum() / total / c)
    boxes = torch.stack(costs)
    return cov.sum() + boxes.sum(), torch.stack([cov, boxes], 1)


# ---- regulariser and optimisers
def l1(parameters, weight):
    return weight * sum(p.abs().sum() for name, p in parameters.items() if name.endswith(("/kernel", "/bias")))


def adam_tensorflow(p, g, m, v, t, lr):
    rate = lr * math.sqrt(1 - BETA2**t) / (1 - BETA1**t)
    return p - rate * m / (v.sqrt() + 1e-8)


def adamw(p, g, m, v, t, lr):
    shrink = 1 - lr * 0.05 if p.dim() > 1 else 1.0
    return shrink * p - lr / (1 - BETA1**t) * m / ((v / (1 - BETA2**t)).sqrt() + 1e-8)


CASES = {
    "reference": dict(net=dict(units=2, all_projections=False, neck=False, priors=(1.0, 0.0, 0.0)), loss=reference_loss,
                      penalty=1e-5, update=adam_tensorflow, rate=5e-6, clip=0.0),
    "scratch": dict(net=dict(units=1, all_projections=True, neck=True, priors=(0.125, 0.5, -2.0)), loss=task_aligned_loss,
                    penalty=0.0, update=adamw, rate=5e-6, clip=5.0),
}


@functools.lru_cache(maxsize=None)
def direction(name, count):
    return torch.from_numpy(2 * uniform(name, count) - 1)


def summary(name, values):
    values = values.detach().double().flatten()
    projections = [direction(f"projection{k}/{name}", values.numel()) for k in range(2)]
    return [values.norm().item()] + [torch.dot(r, values).item() for r in projections]


def train(case, dtype):
    net = Network(dtype)
    # Of 40 pictures the one whose first pass keeps away from the kink of every ReLU (by 1e-5), where float32 and float64
    # may take different sides.
    images = array("pictures 34", (BATCH, 3, HEIGHT, WIDTH), 0, 1).to(dtype)
    first, second, losses, result = {}, {}, [], {}
    for step in range(1, STEPS + 1):
        bbox, logits = net.forward(images, **case["net"])
        task, costs = case["loss"](bbox, logits)
        penalty = l1(net.parameters, case["penalty"]) if case["penalty"] else torch.zeros((), dtype=dtype)
        names = list(net.parameters)
        if step == 1:
            start = {k: p.detach().clone() for k, p in net.parameters.items()}
        task_gradients = torch.autograd.grad(task, [net.parameters[k] for k in names], retain_graph=True)
        gradients = torch.autograd.grad(task + penalty, [net.parameters[k] for k in names]) if case["penalty"] else task_gradients
        if step == 1:
            result = {
                "bbox": bbox.detach().double().flatten().tolist(), "cov_logits": logits.detach().double().flatten().tolist(),
                "costs": costs.detach().double().tolist(), "task": task.item(), "penalty": penalty.item(),
                "gradients": {k: summary(k, g) for k, g in zip(names, task_gradients)},
            }
        losses.append((task + penalty).item())
        norm = torch.sqrt(sum((g**2).sum() for g in gradients))
        shrink = min(1.0, case["clip"] / (norm.item() + 1e-6)) if case["clip"] else 1.0
        with torch.no_grad():
            for k, g in zip(names, gradients):
                g = g * shrink
                first[k] = BETA1 * first.get(k, 0) + (1 - BETA1) * g
                second[k] = BETA2 * second.get(k, 0) + (1 - BETA2) * g * g
                net.parameters[k].copy_(case["update"](net.parameters[k], g, first[k], second[k], step, case["rate"]))
    result["losses"] = losses
    result["changes"] = {k: summary(k, p - start[k]) for k, p in net.parameters.items()}
    result["moving"] = {k: summary(k, m) for k, m in net.moving.items()}
    return result


def largest_error(actual, expected):
    """Of summaries: over the expected norm, or over 1e-4 of the largest one for arrays that should be about 0."""
    floor = 1e-4 * max(e[0] for e in expected.values())
    return max(abs(a - e) / (expected[k][0] + floor) for k in expected for a, e in zip(actual[k], expected[k]))


def float32_errors(single, exact):
    peak = max(map(abs, exact["bbox"]))
    # A bias under a batch norm has no gradient but rounding noise, which Adam blows up to full steps.
    floor = 1e-4 * max(g[0] for g in exact["gradients"].values())
    gradients, changes = ({k: v for k, v in exact[what].items() if exact["gradients"][k][0] > floor} for what in ("gradients", "changes"))
    return {
        "bbox": max(abs(a - b) for a, b in zip(single["bbox"], exact["bbox"])) / peak,
        "gradients": largest_error(single["gradients"], gradients),
        "losses": max(abs(a - b) / abs(b) for a, b in zip(single["losses"], exact["losses"])),
        "changes": largest_error(single["changes"], changes),
        "moving": largest_error(single["moving"], exact["moving"]),
    }


def golden(with_float32):
    cases = {}
    for name, case in CASES.items():
        cases[name] = train(case, torch.float64)
        if with_float32:
            cases[name]["float32_errors"] = float32_errors(train(case, torch.float32), cases[name])
    return {"made_by": "tests/golden/pytorch/make_golden.py", "torch": torch.__version__, "cases": cases}


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, (list, tuple)) else value


def main():
    path = sys.argv[1]
    write = "--write" in sys.argv
    made = rounded(golden(with_float32=write))
    if write:
        with open(path, "w") as file:
            json.dump(made, file, indent=1)
            file.write("\n")
        return 0
    with open(path) as file:
        stored = json.load(file)
    worst = 0.0
    for name, case in stored["cases"].items():
        again = made["cases"][name]
        worst = max(worst, largest_error(again["gradients"], case["gradients"]), largest_error(again["changes"], case["changes"]))
        worst = max(worst, max(abs(a - b) / abs(b) for a, b in zip(again["losses"], case["losses"])))
    print(f"largest difference from {path}: {worst:.2e}")
    return 0 if worst < 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
