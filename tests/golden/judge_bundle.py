"""judge_bundle.py PROGRAM FOLDER: a bundle's detect.py through ONNX Runtime against our own boxes by the same rules.

PROGRAM writes FOLDER/bundle, FOLDER/pictures/*.png and FOLDER/ours.tsv (picture, class, confidence, box)."""

import os
import subprocess
import sys

program, folder = sys.argv[1:]
subprocess.run([program, folder, "bundle"], check=True)
pictures = sorted(os.listdir(os.path.join(folder, "pictures")))
paths = [os.path.join(folder, "pictures", name) for name in pictures]
script = os.path.join(folder, "bundle", "detect.py")
printed = subprocess.run([sys.executable, script, *paths], check=True, capture_output=True, text=True).stdout


def rows(text):
    table = []
    for line in text.splitlines():
        path, name, *numbers = line.split("\t")
        table.append((os.path.basename(path), name, [float(number) for number in numbers]))
    return sorted(table, key=lambda row: (row[0], row[1], -row[2][0], row[2][1]))


with open(os.path.join(folder, "ours.tsv"), encoding="utf-8") as file:
    ours = rows(file.read())
theirs = rows(printed)
assert ours, "no boxes to compare"
assert len(ours) == len(theirs), (len(ours), len(theirs))
worst = 0.0
for (a_picture, a_name, a), (b_picture, b_name, b) in zip(ours, theirs):
    assert (a_picture, a_name) == (b_picture, b_name)
    worst = max([worst] + [abs(x - y) for x, y in zip(a, b)])
print(f"{len(ours)} boxes in {len(pictures)} pictures, largest difference {worst:.3g}")
assert worst < 0.05, worst
