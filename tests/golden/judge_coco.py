"""pycocotools loads our COCO files and evaluates on them. Usage: judge_coco.py PROGRAM FOLDER"""
import json
import os
import subprocess
import sys

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

program, folder = sys.argv[1:]
subprocess.run([program, "coco", folder], check=True)
expected = json.load(open(os.path.join(folder, "coco.json")))
images = 0
for split, samples in expected.items():
    coco = COCO(os.path.join(folder, "coco", "annotations", f"instances_{split}.json"))
    names = [coco.cats[i]["name"] for i in sorted(coco.cats)]
    assert names[:2] == ["no-mask", "Mask"], names
    assert len(coco.imgs) == len(samples), split
    for image_id, image in coco.imgs.items():
        path = os.path.join(folder, "coco", split, image["file_name"])
        assert os.path.exists(path), path
        wanted = samples[image["file_name"]]
        found = coco.loadAnns(coco.getAnnIds(imgIds=[image_id]))
        assert len(found) == len(wanted)
        for annotation, box in zip(found, wanted):
            x, y, w, h = annotation["bbox"]
            assert all(abs(a - b) < 1e-4 for a, b in zip([x, y, x + w, y + h], box["box"])), (annotation, box)
            assert coco.cats[annotation["category_id"]]["name"] == box["class"]
            assert bool(annotation["iscrowd"]) == box["ignore"]
        images += 1
    # Its evaluation takes the truth for detections: all found, and what is to be ignored is not counted.
    detections = [dict(image_id=a["image_id"], category_id=a["category_id"], bbox=a["bbox"], score=0.9)
                  for a in coco.anns.values() if not a["iscrowd"]]
    if not detections:
        continue
    evaluation = COCOeval(coco, coco.loadRes(detections), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    assert evaluation.stats[0] > 0.999, evaluation.stats
assert images == 7, images
print("pycocotools agrees")
