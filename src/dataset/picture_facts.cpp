#include "dataset/picture_facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "dataset/picture_cache.h"
#include "image/reduced.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

// Twice the print's side, so that the print is an average and not a sample.
constexpr int kLeastSide = 2 * kPrintSide;
// Colour channels of a grey picture differ by rounding and JPEG's noise only.
constexpr int kGreyTolerance = 6;

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

bool is_grey(const image::Image& picture) {
  for (std::size_t i = 0; i + 2 < picture.pixels.size(); i += 3) {
    const auto [low, high] = std::minmax({picture.pixels[i], picture.pixels[i + 1], picture.pixels[i + 2]});
    if (high - low > kGreyTolerance) return false;
  }
  return true;
}

}  // namespace

FileStamp stamp_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {status.st_size, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
}

PictureFacts facts_of(const std::string& bytes, const std::string& name) {
  PictureFacts facts;
  facts.digest = base::sha256(bytes);
  try {
    image::ReadInfo info;
    const image::Image picture = image::decode_reduced(bytes, name, kLeastSide, &info);
    facts.orientation = info.orientation;
    facts.upright = info.stored_size;
    facts.upright = facts.stored_size();  // turned as the orientation says
    facts.format = info.format;
    facts.notes = info.notes;
    facts.grey = is_grey(picture);
    facts.print = print_of(picture);
    facts.hash = hash_of(facts.print);
  } catch (const base::Error& error) {
    facts.error = error.what();
    facts.remedy = error.hint();
  }
  return facts;
}

FactsResult collect_facts(const std::vector<fs::path>& paths, const FactsOptions& options) {
  PictureCache cache(options.cache);
  FactsResult result;
  result.facts.resize(paths.size());
  std::atomic<std::int64_t> done{0};
  std::mutex mutex;
  const auto total = static_cast<std::int64_t>(paths.size());
  try {
    base::parallel_for(
        total,
        [&](std::int64_t i) {
          options.stop.throw_if_requested();
          result.facts[static_cast<std::size_t>(i)] = cache.look_at(paths[static_cast<std::size_t>(i)]);
          const std::int64_t count = ++done;
          if (options.progress && (count % 64 == 0 || count == total)) {
            const std::lock_guard lock(mutex);
            options.progress(count, total);
          }
        },
        options.threads);
  } catch (const base::Error&) {
    cache.save(PictureCache::Keep::kAll);
    throw;
  }
  cache.save(PictureCache::Keep::kAll);
  result.decoded = cache.decoded();
  result.from_cache = total - result.decoded;
  return result;
}

}  // namespace maskfit::dataset
