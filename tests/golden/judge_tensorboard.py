"""TensorBoard reads our event files. Usage: judge_tensorboard.py PROGRAM FOLDER"""
import os
import subprocess
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

program, folder = sys.argv[1:]

subprocess.run([program, "write", folder], check=True)
events = EventAccumulator(os.path.join(folder, "events"))
events.Reload()
tags = events.Tags()
assert sorted(tags["scalars"]) == ["learning_rate", "loss/total"], tags
loss = events.Scalars("loss/total")
assert [e.step for e in loss] == [1, 2, 3, 4, 5]
assert all(abs(e.value - 1 / e.step) < 1e-6 for e in loss)
assert all(a.wall_time <= b.wall_time for a, b in zip(loss, loss[1:]))
image = events.Images("samples")[0]
assert (image.step, image.width, image.height) == (5, 4, 2) and image.encoded_image_string.startswith(b"\x89PNG")
assert events.Tensors("spec")[0].tensor_proto.string_val == [b"**batch** 24"]
assert events.SummaryMetadata("spec").plugin_data.plugin_name == "text"
print("TensorBoard agrees")
