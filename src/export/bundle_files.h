#pragma once

// Names of the files of a bundle.

namespace maskfit::exporting {

inline constexpr const char* kModelFile = "model.onnx";           // real numbers: fp32, or fp16
inline constexpr const char* kInt8ModelFile = "model_int8.onnx";  // with QuantizeLinear and DequantizeLinear
inline constexpr const char* kTrainedFile =
    "trained.safetensors";  // what the bundle was made from; verify compares with it
inline constexpr const char* kLabelsFile = "labels.txt";
inline constexpr const char* kCalibrationFile = "calibration.bin";
inline constexpr const char* kPipelineFile =
    "pipeline.json";  // pre- and post-processing, thresholds, digests
inline constexpr const char* kNvinferFile = "nvinfer_config.txt";
inline constexpr const char* kAppFile = "deepstream_file.txt";
inline constexpr const char* kAppCamera = "deepstream_camera.txt";
inline constexpr const char* kAppRtsp = "deepstream_rtsp.txt";
inline constexpr const char* kEngineScript = "build_engine.sh";
inline constexpr const char* kReadme = "README.md";
inline constexpr const char* kPythonExample = "detect.py";
inline constexpr const char* kCppExample = "detect.cpp";

}  // namespace maskfit::exporting
