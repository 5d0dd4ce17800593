#include "dataset/kitti_picture.h"

#include "base/error.h"
#include "image/canvas.h"
#include "image/exif.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

constexpr int kQuality = 92;

// Turning back: quarter turns change places, all others undo themselves.
int inverse_orientation(int orientation) {
  if (orientation == 6) return 8;
  if (orientation == 8) return 6;
  return orientation;
}

const char* class_text(FaceUse use, bool upstream) {
  if (use == FaceUse::kMask) return upstream ? "Mask" : "mask";
  if (use == FaceUse::kNoMask) return upstream ? "No-Mask" : "no-mask";
  return "DontCare";
}

}  // namespace

KittiPicture look_at_picture(const fs::path& file) {
  KittiPicture picture;
  try {
    image::ReadInfo info;
    image::read_image_size(file, &info);
    picture.stored = info.stored_size;
    picture.orientation = info.orientation;
  } catch (const base::Error& error) {
    picture.error = error.what();
    picture.hint = error.hint();
  }
  return picture;
}

void encode_picture(const fs::path& file, const SelectionOptions& options, KittiPicture* picture) {
  try {
    image::ReadInfo info;
    image::Image pixels = image::read_image(file, &info);
    if (info.orientation != 1) pixels = image::turn_upright(pixels, inverse_orientation(info.orientation));
    const bool enlarges = pixels.width < options.output.width || pixels.height < options.output.height;
    pixels =
        image::fit_to_canvas(pixels, options.output,
                             options.letterbox ? image::CanvasMode::kLetterbox : image::CanvasMode::kStretch,
                             enlarges ? image::Filter::kLanczos : image::Filter::kAntialias);
    picture->notes = info.notes;
    picture->jpeg = image::encode_jpeg(pixels, kQuality);
  } catch (const base::Error& error) {
    picture->error = error.what();
    picture->hint = error.hint();
  }
}

std::string label_text(KittiSet set, const PictureDecision& decision, image::Size stored,
                       const KittiOptions& options) {
  const SelectionOptions& selection = options.selection;
  const auto scale = output_scale(stored, selection);
  std::string text;
  for (const KittiFace& face : decision.labels) {
    const Corners& b = face.box_in_stored;
    if (selection.rules == KittiRules::kReference) {
      text += set == KittiSet::kWider ? reference_wider_line(b, stored, selection.output)
                                      : reference_label_line(face.use, b, stored, selection.output);
    } else {
      text += fmt::format("{} 0 0 0 {:.2f} {:.2f} {:.2f} {:.2f} 0 0 0 0 0 0 0",
                          class_text(face.use, options.upstream_classes), b[0] * scale[0], b[1] * scale[1],
                          b[2] * scale[0], b[3] * scale[1]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace maskfit::dataset
