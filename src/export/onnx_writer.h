#pragma once

// Exported model -> ONNX graph.

#include "export/exported_model.h"
#include "formats/onnx.h"

namespace maskfit::exporting {

struct OnnxOptions {
  int opset = 0;  // 11 to 21; 0: the lowest that suits the precision (12, for int8 13: scales by channel)
  int batch = 0;  // pictures a run; 0: any number, the axis is called "batch"
};

// Inputs and outputs are float32 whatever the precision: "input_1:0" [batch][C][H][W] 0..1, then
// "output_cov/Sigmoid:0" [batch][classes][h][w] and "output_bbox/BiasAdd:0" [batch][4 * classes][h][w].
// Convolutions carry explicit pads, equal on both sides. int8: 8-bit constants behind DequantizeLinear,
// activations through QuantizeLinear and DequantizeLinear. The metadata holds what the model file holds
// beside its arrays, so that the file alone is enough to detect with. Throws base::Error (kUsage) for an
// opset or a batch that cannot be.
formats::OnnxModel to_onnx(const ExportedModel& exported, const OnnxOptions& options = {});

// Metadata keys that writer and reader share.
inline constexpr const char* kOnnxFormatKey = "maskfit.format";
inline constexpr const char* kOnnxFormat = "maskfit detector";
inline constexpr const char* kOnnxVersionKey = "maskfit.format_version";
inline constexpr long long kOnnxVersion = 1;
inline constexpr const char* kOnnxClassesKey = "maskfit.class_names";
inline constexpr const char* kOnnxCanvasKey = "maskfit.canvas";
inline constexpr const char* kOnnxScaleKey = "maskfit.box_scale";
inline constexpr const char* kOnnxOffsetKey = "maskfit.box_offset";
inline constexpr const char* kOnnxPostprocessingKey = "maskfit.postprocessing";
inline constexpr const char* kOnnxProvenanceKey = "maskfit.provenance";

}  // namespace maskfit::exporting
