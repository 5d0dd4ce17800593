#pragma once

// ONNX graph -> exported model, for graphs that onnx_writer.h wrote.

#include <filesystem>

#include "export/exported_model.h"
#include "formats/onnx.h"

namespace maskfit::exporting {

// The network is rebuilt from the graph's own nodes and constants, not from a copy beside them: what runs is
// what the file says. Throws base::Error (kRefused) naming the node for graphs of other tools, for newer
// versions, and for graphs that were changed into something that cannot be ours.
ExportedModel from_onnx(const formats::OnnxModel& onnx, const std::string& name_for_errors);

ExportedModel read_exported(const std::filesystem::path& path);

}  // namespace maskfit::exporting
