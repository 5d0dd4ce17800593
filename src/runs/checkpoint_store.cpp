#include "runs/checkpoint_store.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace maskfit::runs {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".ckpt";
constexpr std::string_view kDigestSuffix = ".ckpt.sha256";

// The step in "step-000000123<suffix>", or -1 for any other name.
std::int64_t step_of(const std::string& name, std::string_view suffix) {
  if (!name.starts_with(kPrefix) || !name.ends_with(suffix)) return -1;
  long long step = -1;
  const std::size_t digits = name.size() - kPrefix.size() - suffix.size();
  return base::parse_int(std::string_view(name).substr(kPrefix.size(), digits), &step) ? step : -1;
}

std::vector<std::int64_t> steps_with(const fs::path& folder, std::string_view suffix) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (const std::int64_t step = step_of(entry->path().filename().string(), suffix); step >= 0) {
      steps.push_back(step);
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

base::Finding torn(const fs::path& path, std::string what) {
  return {base::Severity::kRefused, path.string(), 0, "", std::move(what), ""};
}

// What became of the torn ones, which is known only once an older one was found, or not.
void set_remedies(base::Findings& findings, const std::string& used) {
  for (base::Finding& finding : findings) {
    finding.remedy = used.empty() ? "no other checkpoint is left" : used + " is used";
  }
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path folder, int keep_last)
    : folder_(std::move(folder)), keep_last_(keep_last) {}

fs::path CheckpointStore::path(std::int64_t step) const {
  return folder_ / fmt::format("{}{:09}{}", kPrefix, step, kSuffix);
}

fs::path CheckpointStore::digest_path(std::int64_t step) const {
  return folder_ / fmt::format("{}{:09}{}", kPrefix, step, kDigestSuffix);
}

std::vector<std::int64_t> CheckpointStore::steps() const {
  return steps_with(folder_, kDigestSuffix);
}

void CheckpointStore::save(std::int64_t step, std::string_view bytes) const {
  // When the step is saved again, its old line must not vouch for new bytes.
  std::error_code ignored;
  fs::remove(digest_path(step), ignored);
  base::write_file(path(step), bytes);
  base::write_file(digest_path(step),
                   fmt::format("{}  {}\n", base::sha256(bytes), path(step).filename().string()));
  drop_old();
}

void CheckpointStore::drop_old() const {
  const std::vector<std::int64_t> whole = steps();
  if (whole.empty()) return;
  std::error_code ignored;
  const std::size_t keep = keep_last_ > 0 ? static_cast<std::size_t>(keep_last_) : whole.size();
  for (std::size_t i = 0; i + keep < whole.size(); ++i) {
    fs::remove(digest_path(whole[i]), ignored);  // the line first: bytes without a line are no checkpoint
    fs::remove(path(whole[i]), ignored);
  }
  // Bytes of an interrupted save.
  for (const std::int64_t step : steps_with(folder_, kSuffix)) {
    if (!std::binary_search(whole.begin(), whole.end(), step)) fs::remove(path(step), ignored);
  }
  // Temporary files of writers that were killed (base/files.h). The run folder's lock makes this process the
  // only one.
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().find(".tmp") != std::string::npos)
      fs::remove(entry->path(), ignored);
  }
}

std::optional<CheckpointStore::Checkpoint> CheckpointStore::newest(base::Findings* findings) const {
  base::Findings found;
  std::optional<Checkpoint> whole;
  std::vector<std::int64_t> candidates = steps();
  for (const std::int64_t step : steps_with(folder_, kSuffix)) {
    if (!std::binary_search(candidates.begin(), candidates.end(), step)) {
      found.push_back(
          torn(path(step), "the checkpoint has no digest: the run was stopped while it was written"));
    }
  }
  for (auto step = candidates.rbegin(); step != candidates.rend() && !whole; ++step) {
    std::error_code ignored;
    if (!fs::exists(path(*step), ignored)) {
      found.push_back(torn(path(*step), "the checkpoint has a digest but no bytes"));
      continue;
    }
    std::string bytes = base::read_file(path(*step));
    const std::vector<std::string> words = base::split_words(base::read_file(digest_path(*step)));
    if (!words.empty() && words[0] == base::sha256(bytes)) {
      whole = Checkpoint{*step, path(*step), std::move(bytes)};
    } else {
      found.push_back(
          torn(path(*step), "the checkpoint is torn or was altered: its bytes do not fit its digest"));
    }
  }
  set_remedies(found, whole ? whole->path.filename().string() : "");
  if (findings != nullptr) findings->insert(findings->end(), found.begin(), found.end());
  return whole;
}

}  // namespace maskfit::runs
