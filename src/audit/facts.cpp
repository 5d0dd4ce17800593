#include "audit/facts.h"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "audit/facts_cache.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "image/reduced.h"

namespace maskfit::audit {
namespace fs = std::filesystem;
namespace {

// Twice the print's side, so that the print is an average and not a sample.
constexpr int kLeastSide = 2 * kPrintSide;
// Colour channels of a grey picture differ by rounding and JPEG's noise only.
constexpr int kGreyTolerance = 6;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

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

FactsByPath read_cache(const fs::path& file) {
  std::error_code ignored;
  if (file.empty() || !fs::is_regular_file(file, ignored)) return {};
  try {
    return unpack_facts(base::read_file(file)).value_or(FactsByPath());
  } catch (const base::Error&) {
    return {};
  }
}

// Pictures that an interrupted run did not come to keep what the old cache says of them.
void write_cache(const fs::path& file, const std::vector<std::string>& keys,
                 const std::vector<PictureFacts>& facts, const FactsByPath& old) {
  if (file.empty()) return;
  FactsByPath known;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto before = old.find(keys[i]);
    if (!facts[i].digest.empty()) {
      known.emplace(keys[i], facts[i]);
    } else if (before != old.end() && facts[i].seen_ns == 0) {
      known.insert(*before);
    }
  }
  try {
    base::write_file(file, pack_facts(known));
  } catch (const base::Error&) {
    // A dataset that may not be written to can still be audited.
  }
}

// Facts of one file, from the cache where that is certain to be right.
PictureFacts look_at(const fs::path& path, const PictureFacts* cached, std::atomic<std::int64_t>* decoded,
                     std::atomic<std::int64_t>* read) {
  const std::int64_t seen = now_ns();
  const FileStamp stamp = stamp_of(path);
  if (cached != nullptr && still_valid(*cached, stamp)) return *cached;
  PictureFacts facts;
  ++*read;
  try {
    const std::string bytes = base::read_file(path);
    if (cached != nullptr && cached->digest == base::sha256(bytes)) {
      facts = *cached;
    } else {
      facts = facts_of(bytes, path.string());
      ++*decoded;
    }
  } catch (const base::Error& error) {
    facts.error = error.what();
  }
  facts.stamp = stamp;
  facts.seen_ns = seen;
  return facts;
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
    const bool turned = info.orientation >= 5;
    facts.width = turned ? info.stored_size.height : info.stored_size.width;
    facts.height = turned ? info.stored_size.width : info.stored_size.height;
    facts.orientation = info.orientation;
    facts.format = info.format;
    facts.notes = fmt::format("{}", fmt::join(info.notes, "; "));
    facts.grey = is_grey(picture);
    facts.print = print_of(picture);
    facts.hash = hash_of(facts.print);
  } catch (const base::Error& error) {
    facts.error = error.what();
  }
  return facts;
}

FactsResult collect_facts(const std::vector<fs::path>& paths, const FactsOptions& options) {
  const FactsByPath cache = read_cache(options.cache);
  std::vector<std::string> keys;
  keys.reserve(paths.size());
  for (const fs::path& path : paths) keys.push_back(fs::absolute(path).lexically_normal().string());

  FactsResult result;
  result.facts.resize(paths.size());
  std::atomic<std::int64_t> done{0}, decoded{0}, read{0};
  std::mutex mutex;
  const auto total = static_cast<std::int64_t>(paths.size());
  try {
    base::parallel_for(
        total,
        [&](std::int64_t i) {
          options.stop.throw_if_requested();
          const auto cached = cache.find(keys[i]);
          result.facts[i] =
              look_at(paths[i], cached == cache.end() ? nullptr : &cached->second, &decoded, &read);
          const std::int64_t count = ++done;
          if (options.progress && (count % 64 == 0 || count == total)) {
            const std::lock_guard lock(mutex);
            options.progress(count, total);
          }
        },
        options.threads);
  } catch (const base::Error&) {
    write_cache(options.cache, keys, result.facts, cache);
    throw;
  }
  result.decoded = decoded;
  result.from_cache = total - decoded;
  if (read > 0 || cache.size() != paths.size()) write_cache(options.cache, keys, result.facts, cache);
  return result;
}

}  // namespace maskfit::audit
