"""TensorFlow reads our TFRecords, and we read TensorFlow's. Usage: judge_tfrecords.py PROGRAM FOLDER"""
import json
import os
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import tensorflow as tf

program, folder = sys.argv[1:]


def features_of(example):
    """As format_samples.cpp writes them."""
    features = {}
    for key, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        values = list(getattr(feature, kind).value)
        features[key] = {"type": kind.replace("_list", ""),
                         "values": [v.hex() for v in values] if kind == "bytes_list" else values}
    return features


def check_ours():
    subprocess.run([program, "write", folder], check=True)
    expected = json.load(open(os.path.join(folder, "records.json")))
    assert len(expected) == 4, sorted(expected)
    frames = 0
    for name, examples in expected.items():
        records = [r.numpy() for r in tf.data.TFRecordDataset(os.path.join(folder, name))]
        assert len(records) == len(examples), name
        for record, wanted in zip(records, examples):
            example = tf.train.Example.FromString(record)
            assert features_of(example) == wanted, (name, wanted)
            assert example.SerializeToString(deterministic=True) == record, "not TensorFlow's own bytes"
            # As the reference's loader does: every feature of variable length, kinds from the record.
            schema = {key: tf.io.VarLenFeature({"bytes": tf.string, "float": tf.float32, "int64": tf.int64}[f["type"]])
                      for key, f in wanted.items()}
            parsed = tf.io.parse_single_example(record, schema)
            classes = tf.sparse.to_dense(parsed["target/object_class"], default_value=b"").numpy()
            assert len(classes) == len(wanted["target/coordinates_x1"]["values"])
            frames += 1
    assert frames == 7, frames


def check_theirs():
    def feature(kind, values):
        lists = {"bytes": tf.train.BytesList, "float": tf.train.FloatList, "int64": tf.train.Int64List}
        return tf.train.Feature(**{kind + "_list": lists[kind](value=values)})

    examples = [
        tf.train.Example(features=tf.train.Features(feature={
            "frame/id": feature("bytes", ["images/é".encode()]),
            "frame/width": feature("int64", [960]),
            "target/object_class": feature("bytes", [b"mask", b"no-mask", b"\xff\x00"]),
            "target/coordinates_x1": feature("float", [1.5, -0.25, 1e-38]),
            "target/occlusion": feature("int64", [-1, 0, 2**62]),
        })),
        tf.train.Example(features=tf.train.Features(feature={
            "frame/id": feature("bytes", [b"empty"]),
            "target/object_class": feature("bytes", []),
            "target/coordinates_x1": feature("float", []),
            "target/occlusion": feature("int64", []),
        })),
        tf.train.Example(),
    ]
    path = os.path.join(folder, "theirs.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for example in examples:
            writer.write(example.SerializeToString())
    expected = os.path.join(folder, "theirs.json")
    json.dump([features_of(e) for e in examples], open(expected, "w"))
    subprocess.run([program, "compare", path, expected], check=True)


check_ours()
check_theirs()
print("TensorFlow", tf.__version__, "agrees")
