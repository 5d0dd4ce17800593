#pragma once

// Box numbers of the network -> boxes in network pixels (spec 1.5 and 7.2).

#include "postprocess/postprocess.h"

namespace maskfit::postprocess {

// The box of cell (column, row): origin + offset -/+ scale * (left, top / right, bottom). Not clipped.
boxes::Box decode_cell(const boxes::GridGeometry& geometry, int column, int row, float left, float top,
                       float right, float bottom, const Options& options);

// Cut to the network's input as the reference does: x1 to [0, width], then x2 to [x1, width].
boxes::Box clip_in_order(const boxes::Box& box, float width, float height);

// Cells of one class with coverage > threshold. Evaluation: row by row, clipped. Inference: column by column,
// unclipped.
Candidates decode(const OutputGrids& grids, int class_index, float coverage_threshold,
                  const Options& options);

}  // namespace maskfit::postprocess
