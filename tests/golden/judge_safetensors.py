"""Python's safetensors reads our files, and we read its. Usage: judge_safetensors.py PROGRAM FOLDER"""
import json
import os
import subprocess
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

program, folder = sys.argv[1:]

subprocess.run([program, "write", folder], check=True)
with safe_open(os.path.join(folder, "ours.safetensors"), "numpy") as file:
    assert file.metadata() == {"classes": "mask\nno-mask", "name": "café"}, file.metadata()
    assert sorted(file.keys()) == ["bytes", "conv1/kernel", "empty", "step"]
    kernel = file.get_tensor("conv1/kernel")
    assert kernel.dtype == np.float32
    np.testing.assert_array_equal(kernel, np.array([[1.5, -2, 3.25], [0, 1e-30, 7]], np.float32))
    assert file.get_tensor("empty").shape == (0, 4)
    assert file.get_tensor("step").dtype == np.int64 and file.get_tensor("step").shape == ()
    assert file.get_tensor("step") == -7
    np.testing.assert_array_equal(file.get_tensor("bytes"), np.array([1, 2, 255], np.uint8))

arrays = {
    "z": np.arange(6, dtype=np.float32).reshape(2, 3) / 4,
    "a/b": np.array([-1, 2**62], np.int64),
    "u": np.array([[0, 255]], np.uint8),
    "none": np.zeros((3, 0), np.float32),
}
path = os.path.join(folder, "theirs.safetensors")
save_file(arrays, path, metadata={"k": "ü"})
read = json.loads(subprocess.run([program, "safetensors", path], check=True, capture_output=True).stdout)
assert read["metadata"] == {"k": "ü"}, read
names = {"float32": "F32", "int64": "I64", "uint8": "U8"}
assert sorted(read["arrays"]) == sorted(arrays)
for name, array in arrays.items():
    assert read["arrays"][name] == {"type": names[str(array.dtype)], "shape": list(array.shape),
                                    "values": array.flatten().tolist()}, name
print("safetensors agrees")
