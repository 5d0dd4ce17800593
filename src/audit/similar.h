#pragma once

// Pictures that show the same, however they were saved: the same file, the same pixels, scaled, recompressed,
// mirrored, and the frames of a video.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "boxes/box.h"
#include "dataset/picture_facts.h"
#include "image/image.h"

namespace maskfit::audit {

using dataset::PictureFacts;

enum class Likeness {
  kSameFile,    // every byte
  kSamePixels,  // every pixel of the upright picture
  kNear,        // the same picture in another size, quality or light
  kMirrored,    // the same, mirrored left to right
  kCropped,     // one is a part of the other, perhaps mirrored
};

struct SimilarPair {
  std::uint32_t a = 0, b = 0;  // a < b
  Likeness likeness = Likeness::kNear;
  double correlation = 1;  // of the pictures at the finest scale compared
  // With kCropped: what part of the larger picture the smaller one shows, as shares of its sides.
  boxes::Box part_of_whole{0, 0, 1, 1};
  std::uint32_t whole = 0;  // a or b
  bool mirrored = false;
};

struct Sequence {
  std::vector<std::uint32_t> frames;  // in the order of their numbers
};

struct Similarity {
  std::vector<SimilarPair> pairs;  // sorted by a, then b
  std::vector<Sequence> sequences;
  // Pictures that belong together by either have the same number, which is the smallest index among them.
  std::vector<std::uint32_t> group;
};

struct SimilarOptions {
  // Candidates: hashes that differ in no more bits ...
  int hash_radius = 10;
  // ... whose prints correlate at least so much ...
  double print_correlation = 0.90;
  // ... and count as the same picture when they still do at 128 x 128.
  double detail_correlation = 0.95;
  // Parts of pictures are looked for in sets of so many pictures at most; the work grows with the square. A
  // part counts when it correlates so much once it lies exactly.
  std::size_t max_pictures_for_crops = 200'000;
  double crop_print_correlation = 0.75, crop_correlation = 0.95;
  // Under this contrast a picture has no features to compare by; only the same file is found.
  double least_contrast = 4;
  // Frames of a video: successive numbers in the name, hashes that differ in no more bits and prints that
  // correlate at least so much, three at least in a row.
  int frame_radius = 14;
  double frame_correlation = 0.85;
  std::size_t least_frames = 3;

  int threads = 0;
  base::StopToken stop;
};

// Reads picture i at the smallest scale whose shorter side has `least_side` pixels (0: whole). Called from
// several threads. May throw base::Error; the pair is left out then.
using ReadPicture = std::function<image::Image(std::uint32_t i, int least_side)>;

// `ids` are the samples' (docs/dataset-format.md): their numbers order the frames. `facts`: one an id;
// unusable pictures are like nothing. Of pictures of which each is like the other only some pairs are listed,
// enough to join all of them: a thousand copies give some thousands of pairs, not half a million.
Similarity find_similar(const std::vector<std::string>& ids, const std::vector<PictureFacts>& facts,
                        const ReadPicture& read, const SimilarOptions& options);

}  // namespace maskfit::audit
