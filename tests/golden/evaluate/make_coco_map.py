#!/usr/bin/env python3
"""Writes coco_map.json: random scenes and what pycocotools 2.x says of them.

    pip install pycocotools && python3 make_coco_map.py > coco_map.json

All coordinates are quarters and all scores 1024ths, so float32 holds them exactly. Ignored truths are COCO crowd
annotations, repeated for each class, because maskfit's ignored truths belong to no class. One picture has more than
100 detections of one class (COCO's limit), and scores repeat.
"""
import contextlib
import io
import json
import random
import sys

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

CLASSES = ["mask", "no-mask"]


def quarter(low, high):
    return random.randint(int(low * 4), int(high * 4)) / 4


def box():
    x, y = quarter(0, 500), quarter(0, 300)
    return [x, y, x + quarter(8, 120), y + quarter(8, 120)]


def near(b, spread):
    return [c + quarter(-spread, spread) for c in b[:2]] + [c + quarter(-spread, spread) for c in b[2:]]


def picture(index):
    truths = [{"box": box(), "class": random.randrange(2), "ignore": random.random() < 0.15}
              for _ in range(random.randint(0, 4))]
    detections = []
    for truth in truths:
        for _ in range(random.randint(0, 3)):
            cls = truth["class"] if random.random() < 0.8 else 1 - truth["class"]
            detections.append([cls, random.randint(200, 1024) / 1024, *near(truth["box"], random.choice([1, 3, 10]))])
    for _ in range(120 if index == 7 else random.randint(0, 4)):
        detections.append([0 if index == 7 else random.randrange(2), random.randint(1, 600) / 1024, *box()])
    detections = [d for d in detections if d[4] > d[2] and d[5] > d[3]]
    random.shuffle(detections)
    return {"id": f"{index:03d}", "truths": truths, "detections": detections}


def xywh(b):
    return [b[0], b[1], b[2] - b[0], b[3] - b[1]]


def ground_truth(pictures):
    annotations = []
    for number, entry in enumerate(pictures, 1):
        for truth in entry["truths"]:
            for cls in range(2) if truth["ignore"] else [truth["class"]]:
                w, h = xywh(truth["box"])[2:]
                annotations.append({"id": len(annotations) + 1, "image_id": number, "category_id": cls + 1,
                                    "bbox": xywh(truth["box"]), "area": w * h, "iscrowd": int(truth["ignore"])})
    coco = COCO()
    coco.dataset = {"images": [{"id": n + 1} for n in range(len(pictures))], "annotations": annotations,
                    "categories": [{"id": c + 1, "name": name} for c, name in enumerate(CLASSES)]}
    coco.createIndex()
    return coco


def main():
    random.seed(20)
    pictures = [picture(i) for i in range(24)]
    with contextlib.redirect_stdout(io.StringIO()):
        truth = ground_truth(pictures)
        found = truth.loadRes([{"image_id": n, "category_id": d[0] + 1, "score": d[1], "bbox": xywh(d[2:])}
                               for n, entry in enumerate(pictures, 1) for d in entry["detections"]])
        evaluation = COCOeval(truth, found, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    precision = evaluation.eval["precision"][:, :, :, 0, 2]  # [overlap][recall][class], all areas, 100 detections
    expected = {"map50_95": evaluation.stats[0], "map50": evaluation.stats[1], "map75": evaluation.stats[2],
                "classes": [{"name": name, "ap50_95": precision[:, :, c].mean(), "ap50": precision[0, :, c].mean(),
                             "ap75": precision[5, :, c].mean()} for c, name in enumerate(CLASSES)]}
    json.dump({"made_by": "make_coco_map.py with pycocotools", "classes": CLASSES, "pictures": pictures,
               "expected": expected}, sys.stdout, separators=(",", ":"))


main()
