#include "export/bundle_texts.h"

#include <fmt/ranges.h>

#include "export/bundle_files.h"

namespace maskfit::exporting {
namespace {

constexpr std::string_view kPython =
    R"py("""Find faces in pictures with ONNX Runtime: python3 detect.py PICTURE ...

Needs numpy, Pillow and onnxruntime. Everything else is in pipeline.json beside this file.
Prints a line a face: picture class confidence x1 y1 x2 y2 (pixels of the upright picture).
"""

import json
import os
import sys

import numpy
import onnxruntime
from PIL import Image, ImageOps

FOLDER = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(FOLDER, "pipeline.json"), encoding="utf-8") as file:
    PIPELINE = json.load(file)
INPUT, OUTPUT, CLASSES = PIPELINE["input"], PIPELINE["output"], PIPELINE["classes"]
WIDTH, HEIGHT = INPUT["width"], INPUT["height"]


def to_network(picture):
    """The network's input, and the scales from picture to network."""
    if INPUT["resize"]["mode"] == "letterbox":
        scale = min(WIDTH / picture.width, HEIGHT / picture.height)
        size = [min(max(int(side * scale + 0.5), 1), limit)
                for side, limit in zip(picture.size, (WIDTH, HEIGHT))]
        canvas = Image.new("RGB", (WIDTH, HEIGHT), (INPUT["resize"]["fill"],) * 3)
        canvas.paste(picture.resize(size, Image.BILINEAR), (0, 0))
    else:
        size = (WIDTH, HEIGHT)
        canvas = picture.resize(size, Image.LANCZOS)
    pixels = numpy.asarray(canvas, numpy.float32).transpose(2, 0, 1)[None] / numpy.float32(255)
    if INPUT["channels"] == 1:
        pixels = (pixels * numpy.float32([0.299, 0.587, 0.114])[None, :, None, None]).sum(1, keepdims=True)
    return pixels, (size[0] / picture.width, size[1] / picture.height)


def overlap(box, boxes):
    """Intersection over union of one box with many."""
    sides = numpy.minimum(box[2:], boxes[:, 2:]) - numpy.maximum(box[:2], boxes[:, :2])
    common = numpy.clip(sides, 0, None).prod(1)
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    return common / numpy.maximum((box[2:] - box[:2]).prod() + areas - common, 1e-12)


def to_boxes(coverage, sides):
    """[classes][h][w] and [4 classes][h][w] -> (class, confidence, box in network pixels)."""
    rows, columns = coverage.shape[1:]
    scale, offset = OUTPUT["box_scale"], OUTPUT["box_offset"]
    x = numpy.arange(columns, dtype=numpy.float32)[None, :] * -(-WIDTH // columns) + offset
    y = numpy.arange(rows, dtype=numpy.float32)[:, None] * -(-HEIGHT // rows) + offset
    found = []
    for index, entry in enumerate(CLASSES):
        left, top, right, bottom = sides[4 * index:4 * index + 4]
        boxes = numpy.stack([x - scale * left, y - scale * top, x + scale * right, y + scale * bottom], -1)
        # As nvinfer cuts: what reaches the size becomes the last pixel, what lies between stays.
        limit = numpy.float32([WIDTH, HEIGHT, WIDTH, HEIGHT])
        boxes = numpy.where(boxes >= limit, limit - 1, numpy.maximum(boxes, 0)).reshape(-1, 4)
        scores = coverage[index].ravel()
        good = (scores >= entry["threshold"]) & (boxes[:, 2] >= boxes[:, 0]) & (boxes[:, 3] >= boxes[:, 1])
        boxes, scores = boxes[good], scores[good]
        kept = numpy.zeros((0, 4))
        for i in numpy.argsort(-scores, kind="stable"):
            if len(kept) and overlap(boxes[i], kept).max() > OUTPUT["clustering"]["iou_threshold"]:
                continue
            kept = numpy.vstack([kept, boxes[i]])
            found.append((entry["name"], float(scores[i]), boxes[i]))
    return found


def main(paths):
    session = onnxruntime.InferenceSession(os.path.join(FOLDER, PIPELINE["model"]), providers=["CPUExecutionProvider"])
    for path in paths:
        picture = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
        pixels, (scale_x, scale_y) = to_network(picture)
        coverage, sides = session.run([OUTPUT["coverage"], OUTPUT["boxes"]], {INPUT["name"]: pixels})
        for name, confidence, box in to_boxes(coverage[0], sides[0]):
            x1, y1, x2, y2 = box / [scale_x, scale_y, scale_x, scale_y]
            x2, y2 = min(x2, picture.width), min(y2, picture.height)
            if x2 > x1 and y2 > y1:
                print(f"{path}\t{name}\t{confidence:.4f}\t{x1:.2f}\t{y1:.2f}\t{x2:.2f}\t{y2:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
)py";

constexpr std::string_view kCpp =
    R"cpp(// Finds faces with ONNX Runtime's C++ interface. Reads a raw picture of the network's input size,
          // @WIDTH@ x @HEIGHT@,
          // 8 bit RGB, as `ffmpeg -i face.jpg -vf scale=@WIDTH@:@HEIGHT@ -pix_fmt rgb24 -f rawvideo face.rgb`
          // makes it.
          //   g++ -std=c++17 -O2 detect.cpp -I onnxruntime/include -L onnxruntime/lib -lonnxruntime -o detect
          //   ./detect face.rgb
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

          constexpr int kWidth = @WIDTH @, kHeight = @HEIGHT @;
          constexpr float kScale = @SCALE @f, kOffset = @OFFSET @f, kNmsIou = @IOU @f;
          const char* const kClasses[] = {@CLASSES @};
          constexpr float kThresholds[] = {@THRESHOLDS @};

          struct Face {
            float x1, y1, x2, y2, confidence;
          };

          float overlap(const Face& a, const Face& b) {
            const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1),
                        height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
            const float common = std::max(width, 0.0f) * std::max(height, 0.0f);
            const float all = (a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - common;
            return all > 0 ? common / all : 0;
          }

          int main(int argc, char** argv) {
            if (argc != 2) return std::fprintf(stderr, "usage: detect PICTURE.rgb\n"), 2;
            std::ifstream file(argv[1], std::ios::binary);
            const std::vector<unsigned char> bytes((std::istreambuf_iterator<char>(file)),
                                                   std::istreambuf_iterator<char>());
            if (bytes.size() != 3u * kWidth * kHeight)
              return std::fprintf(stderr, "not %d x %d RGB\n", kWidth, kHeight), 1;
            std::vector<float> pixels(bytes.size());
            for (int c = 0; c < 3; ++c)
              for (int i = 0; i < kWidth * kHeight; ++i) pixels[c * kWidth * kHeight + i] = bytes[3 * i + c] / 255.0f;

            Ort::Env env;
            Ort::Session session(env, "@MODEL@", Ort::SessionOptions());
            const std::array<int64_t, 4> shape = {1, 3, kHeight, kWidth};
            const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
            const Ort::Value input =
                Ort::Value::CreateTensor<float>(memory, pixels.data(), pixels.size(), shape.data(), 4);
            const char* inputs[] = {"@INPUT@"};
            const char* outputs[] = {"@COV@", "@BBOX@"};
            const auto results = session.Run(Ort::RunOptions(), inputs, &input, 1, outputs, 2);
            const std::vector<int64_t> grid =
                results[0].GetTensorTypeAndShapeInfo().GetShape();  // 1, classes, rows, columns
            const int rows = static_cast<int>(grid[2]), columns = static_cast<int>(grid[3]), cells = rows * columns;
            const float *coverage = results[0].GetTensorData<float>(), *sides = results[1].GetTensorData<float>();

            for (int c = 0; c < grid[1]; ++c) {
              std::vector<Face> faces;
              for (int i = 0; i < cells; ++i) {
                const float score = coverage[c * cells + i];
                if (!(score >= kThresholds[c])) continue;
                const float x = (i % columns) * ((kWidth + columns - 1) / columns) + kOffset;
                const float y = (i / columns) * ((kHeight + rows - 1) / rows) + kOffset;
                const float* side = sides + 4 * c * cells + i;
                // As nvinfer cuts: what reaches the size becomes the last pixel, what lies between stays.
                const auto cut = [](float v, int size) { return v >= size ? size - 1.0f : std::max(v, 0.0f); };
                const Face face = {cut(x - kScale * side[0], kWidth), cut(y - kScale * side[cells], kHeight),
                                   cut(x + kScale * side[2 * cells], kWidth),
                                   cut(y + kScale * side[3 * cells], kHeight), score};
                if (face.x2 >= face.x1 && face.y2 >= face.y1) faces.push_back(face);
              }
              std::stable_sort(faces.begin(), faces.end(),
                               [](const Face& a, const Face& b) { return a.confidence > b.confidence; });
              std::vector<Face> kept;
              for (const Face& face : faces) {
                if (std::none_of(kept.begin(), kept.end(), [&](const Face& k) { return overlap(face, k) > kNmsIou; })) {
                  kept.push_back(face);
                  std::printf("%s\t%.4f\t%.2f\t%.2f\t%.2f\t%.2f\n", kClasses[c], face.confidence, face.x1,
                              face.y1, face.x2, face.y2);
                }
              }
            }
          }
    )cpp";

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
      text.replace(at, name.size(), value);
    }
  }
  return text;
}

// As a C++ string literal: names may hold anything.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string literal(float value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string integer_notes(const BundleRequest& request) {
  if (request.precision != Precision::kInt8) return "";
  std::string kept = "All convolutions work on integers.";
  if (!request.float_layers.empty()) {
    kept = fmt::format("Left in real numbers, because they hurt most: {}.",
                       fmt::join(request.float_layers, ", "));
  }
  return fmt::format(
      "\n## 8-bit integers\n\n"
      "`{}` is the calibration table that TensorRT takes with `{}`: it must be newer than any `.engine` file "
      "beside it; delete\n"
      "engines after every export. TensorRT uses the table only when its version is the one in the first "
      "line ({}); another\n"
      "version calibrates anew and fails for want of data: export again with `--tensorrt VERSION`. From "
      "TensorRT 10 on tables\n"
      "are deprecated: build from `{}`, which carries its scales itself (QuantizeLinear and "
      "DequantizeLinear).\n\n{}\n",
      kCalibrationFile, kModelFile, request.tensorrt, kInt8ModelFile, kept);
}

}  // namespace

std::string python_example() {
  return std::string(kPython);
}

std::string cpp_example(const BundleRequest& request) {
  const network::Model& model = request.trained;
  std::vector<std::string> classes, thresholds;
  for (std::size_t c = 0; c < model.class_names.size(); ++c) {
    classes.push_back(quoted(model.class_names[c]));
    thresholds.push_back(literal(request.thresholds.at(c)) + "f");
  }
  const network::Network& network = model.network;
  return replaced(std::string(kCpp),
                  {{"@WIDTH@", fmt::format("{}", network.input.width)},
                   {"@HEIGHT@", fmt::format("{}", network.input.height)},
                   {"@SCALE@", literal(model.box_scale)},
                   {"@OFFSET@", literal(model.box_offset)},
                   {"@IOU@", literal(request.nms_iou)},
                   {"@THRESHOLDS@", fmt::format("{}", fmt::join(thresholds, ", "))},
                   {"@MODEL@", request.precision == Precision::kInt8 ? kInt8ModelFile : kModelFile},
                   {"@INPUT@", tensor_name(network, network.nodes.front().name)},
                   {"@COV@", tensor_name(network, network.outputs.at(1))},
                   {"@BBOX@", tensor_name(network, network.outputs.at(0))},
                   {"@CLASSES@", fmt::format("{}", fmt::join(classes, ", "))}});
}

std::string engine_script(const BundleRequest& request, const NvinferConfig& config) {
  const network::Shape& in = request.trained.network.input;
  const std::string size = fmt::format("{}x{}x{}", in.channels, in.height, in.width);
  const std::string input = tensor_name(request.trained.network, request.trained.network.nodes.front().name);
  std::string shapes;
  if (request.onnx.batch == 0) {
    shapes = fmt::format(" \\\n  --minShapes='{0}':1x{1} --optShapes='{0}':1x{1} --maxShapes='{0}':1x{1}",
                         input, size);
  }
  const char* flags[] = {"", " --int8 --fp16 --calib=calibration.bin", " --fp16"};
  std::string engine;
  const formats::KeyFile file = to_key_file(config);  // must outlive the loop over a part of it
  for (const formats::KeyFileEntry& entry : file.groups.front().entries) {
    if (entry.key == "model-engine-file") engine = entry.value;
  }
  return fmt::format(
      "#!/bin/sh\n# Builds the engine on the device that will run it: it fits one kind of GPU and one "
      "version of TensorRT.\n"
      "set -e\ncd \"$(dirname \"$0\")\"\nPATH=$PATH:/usr/src/tensorrt/bin\n"
      "trtexec --onnx={}{}{} \\\n  --saveEngine={}\n",
      config.onnx_file, flags[config.network_mode], shapes, engine);
}

std::string readme(const BundleRequest& request) {
  const network::Shape& in = request.trained.network.input;
  std::string classes;
  for (std::size_t c = 0; c < request.trained.class_names.size(); ++c) {
    classes += fmt::format("- {}: from confidence {:.3f}\n", request.trained.class_names[c],
                           request.thresholds.at(c));
  }
  std::string text = fmt::format(
      "# A face-mask detector, {} x {} pixels, {}\n\n{}\nThresholds: {}\n\n"
      "## With ONNX Runtime\n\n    pip install numpy pillow onnxruntime\n    python3 {} photo.jpg\n\n"
      "`{}` says how a picture becomes the input and how the outputs become boxes; `{}` is the same in "
      "C++.\n",
      in.width, in.height, name_of(request.precision), classes, request.threshold_source, kPythonExample,
      kPipelineFile, kCppExample);
  if (request.deepstream) {
    text += fmt::format(
        "\n## On a Jetson with DeepStream\n\nCopy this folder to the device, into a place that you may write "
        "to: the engine is kept here.\n\n"
        "    ./{}                      # once; some minutes. DeepStream builds it at first start otherwise\n"
        "    deepstream-app -c {}    # set uri in [source0] first: file:///... with the whole path\n"
        "    deepstream-app -c {}  # a USB camera, /dev/video0\n"
        "    deepstream-app -c {}    # a network camera: set its address in [source0]\n\n"
        "`{}` holds what nvinfer must know of the model. The order in `infer-dims` is channels;height;width. "
        "Without a screen\n"
        "set `type=1` in [sink0]. Fewer false alarms: raise `pre-cluster-threshold` of the class.\n",
        kEngineScript, kAppFile, kAppCamera, kAppRtsp, kNvinferFile);
    if (request.trained.canvas == "letterbox") {
      text +=
          "\nThe model was trained on pictures fitted into grey; nvinfer fits them into black. `maskfit "
          "verify` measures what that\ncosts.\n";
    }
  }
  text += integer_notes(request);
  text += fmt::format(
      "\n## Before it goes anywhere\n\n    maskfit verify THIS_FOLDER DATASET\n\ncompares this bundle with "
      "the model that it was made from "
      "(`{}`), box by box, and finds swapped sides,\nwrong colours, wrong ranges, another order of classes "
      "and stale tables by name.\n",
      kTrainedFile);
  return text;
}

}  // namespace maskfit::exporting
