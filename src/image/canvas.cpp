#include "image/canvas.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "image/resize.h"

namespace maskfit::image {
namespace {

constexpr std::uint8_t kLetterboxFill = 128;  // what augmentation fills with (0.5), rounded

Image resize(const Image& picture, Size size, Filter filter) {
  switch (filter) {
    case Filter::kAntialias:
      return resize_antialias(picture, size);
    case Filter::kLanczos:
      return resize_lanczos(picture, size);
    case Filter::kBilinearTf1:
      return resize_bilinear_tf1(picture, size);
  }
  MASKFIT_CHECK(false, "filter={}", static_cast<int>(filter));
  return {};
}

}  // namespace

CanvasMode canvas_mode_from_name(const std::string& name) {
  for (const CanvasMode mode : {CanvasMode::kStretch, CanvasMode::kLetterbox, CanvasMode::kPad}) {
    if (to_string(mode) == name) return mode;
  }
  throw base::Error(base::ExitCode::kUsage, fmt::format("unknown canvas '{}'", name), "",
                    "use stretch, letterbox or pad");
}

std::string to_string(CanvasMode mode) {
  switch (mode) {
    case CanvasMode::kStretch:
      return "stretch";
    case CanvasMode::kLetterbox:
      return "letterbox";
    case CanvasMode::kPad:
      return "pad";
  }
  MASKFIT_CHECK(false, "mode={}", static_cast<int>(mode));
  return "";
}

Placement place(Size image, Size canvas, CanvasMode mode) {
  MASKFIT_CHECK(image.width > 0 && image.height > 0 && canvas.width > 0 && canvas.height > 0,
                "{}x{} on {}x{}", image.width, image.height, canvas.width, canvas.height);
  Placement placement;
  if (mode == CanvasMode::kPad) {
    placement.scaled = image;
    return placement;
  }
  placement.scaled = canvas;
  if (mode == CanvasMode::kLetterbox) {
    const double scale = std::min(static_cast<double>(canvas.width) / image.width,
                                  static_cast<double>(canvas.height) / image.height);
    placement.scaled.width = std::clamp(static_cast<int>(std::lround(image.width * scale)), 1, canvas.width);
    placement.scaled.height =
        std::clamp(static_cast<int>(std::lround(image.height * scale)), 1, canvas.height);
  }
  // From the whole pixels that were really drawn, so boxes and pixels agree to the last digit.
  placement.scale_x = static_cast<float>(placement.scaled.width) / static_cast<float>(image.width);
  placement.scale_y = static_cast<float>(placement.scaled.height) / static_cast<float>(image.height);
  return placement;
}

boxes::Box canvas_from_image(const boxes::Box& box, const Placement& p) {
  return boxes::scale(box, p.scale_x, p.scale_y);
}

boxes::Box image_from_canvas(const boxes::Box& box, const Placement& p) {
  // Divisions, not a scale by the reciprocals: 1/3 and its like would cost a bit.
  return {box.x1 / p.scale_x, box.y1 / p.scale_y, box.x2 / p.scale_x, box.y2 / p.scale_y};
}

Image fit_to_canvas(const Image& picture, Size canvas, CanvasMode mode, Filter filter) {
  if (mode == CanvasMode::kPad) return pad_to(picture, canvas, 0);
  const Placement placement = place({picture.width, picture.height}, canvas, mode);
  Image scaled = resize(picture, placement.scaled, filter);
  return placement.scaled == canvas ? scaled : pad_to(scaled, canvas, kLetterboxFill);
}

}  // namespace maskfit::image
