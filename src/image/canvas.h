#pragma once

// How a picture meets the network's input, and where its boxes come to lie. Training and deployment share
// this, so a model sees at work what it saw at school.

#include <string>

#include "boxes/box.h"
#include "image/image.h"

namespace maskfit::image {

enum class CanvasMode {
  kStretch,    // both axes scaled to the canvas; the aspect ratio changes. The reference's auto-resize.
  kLetterbox,  // one scale for both axes, the picture at the top left, mid-grey to the right or below
  kPad,  // no scaling: zeros to the right and below, or cut off there. The reference without auto-resize.
};

// "stretch", "letterbox", "pad"; throws base::Error (kUsage) naming the choices.
CanvasMode canvas_mode_from_name(const std::string& name);
std::string to_string(CanvasMode mode);

// How pixels are resampled; see resize.h.
enum class Filter { kAntialias, kLanczos, kBilinearTf1 };

// x_canvas = x_image * scale_x, likewise y: pictures start at the canvas's top left corner in every mode.
struct Placement {
  float scale_x = 1, scale_y = 1;
  Size scaled;  // the picture's size on the canvas, in whole pixels; with kPad it may be larger than the
                // canvas
};

Placement place(Size image, Size canvas, CanvasMode mode);
boxes::Box canvas_from_image(const boxes::Box& box_in_image, const Placement& placement);
boxes::Box image_from_canvas(const boxes::Box& box_in_canvas, const Placement& placement);

// The canvas's pixels: the picture scaled and put where place() says.
Image fit_to_canvas(const Image& picture, Size canvas, CanvasMode mode, Filter filter);

}  // namespace maskfit::image
