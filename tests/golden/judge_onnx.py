"""judge_onnx.py PROGRAM FOLDER: exported models against ONNX's checker, ONNX Runtime and OpenCV's dnn."""

import glob
import os
import subprocess
import sys

import numpy
import onnx
import onnxruntime

program, folder = sys.argv[1:]
subprocess.run([program, folder], check=True)


def floats(name, kind):
    return numpy.fromfile(os.path.join(folder, f"{name}.{kind}.f32"), dtype="<f4")


def difference(ours, theirs):
    """The largest difference, in units of the largest magnitude."""
    return float(numpy.abs(ours - theirs).max() / max(numpy.abs(theirs).max(), 1e-6))


def run_onnxruntime(path, pixels, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    assert names == ["output_cov/Sigmoid:0", "output_bbox/BiasAdd:0"], names
    assert session.get_inputs()[0].name == "input_1:0"
    cov, bbox = session.run(None, {"input_1:0": pixels})
    return cov.ravel(), bbox.ravel()


def run_opencv(path, pixels):
    import cv2

    net = cv2.dnn.readNetFromONNX(path)
    net.setInput(pixels, "input_1:0")
    cov, bbox = net.forward(["output_cov/Sigmoid:0", "output_bbox/BiasAdd:0"])
    return cov.ravel(), bbox.ravel()


# float16 is rounded at other places by every runtime. For integers the graph as it is written defines the result; an
# optimiser may round biases to integers and fuse across roundings, which a step of 1/127 at the end can show.
LEVEL = onnxruntime.GraphOptimizationLevel
TOLERANCE = {"fp32": 1e-4, "fp16": 1e-2, "int8": 1e-4}
OPTIMISED_INTEGERS = 3e-2
failures = []
for path in sorted(glob.glob(os.path.join(folder, "*.onnx"))):
    name = os.path.basename(path)[:-5]
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    pixels = floats(name, "input").reshape(1, 3, 48, 64)
    tolerance = TOLERANCE[name.split("_")[0]]
    runs = {"onnxruntime": run_onnxruntime(path, pixels, LEVEL.ORT_DISABLE_ALL),
            "optimised": run_onnxruntime(path, pixels, LEVEL.ORT_ENABLE_ALL)}
    if name.startswith("fp32"):
        runs["libtorch"] = floats(name, "torch.cov"), floats(name, "torch.bbox")
        try:
            runs["opencv"] = run_opencv(path, pixels)
        except ImportError:
            print("no OpenCV here")
    for judge, theirs in runs.items():
        if judge == "optimised" and name.startswith("int8"):
            tolerance = OPTIMISED_INTEGERS
        for kind, judged in zip(("cov", "bbox"), theirs):
            worst = difference(floats(name, kind), judged)
            print(f"{name:20} {kind:5} {judge:12} {worst:.2e} of {tolerance:.0e}")
            if not worst <= tolerance:
                failures.append((name, kind, judge, worst))
assert not failures, failures
