#include "dataset/import_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr int kVersion = 1;  // of the file and of what decoding finds; another one is as good as none
// A change this close before an import may lie in the same tick of the file system's clock as one after it.
constexpr std::int64_t kRacyNs = 2'000'000'000;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

json as_json(const PictureFacts& facts) {
  const image::ReadInfo& info = facts.info;
  return {facts.upright.width,
          facts.upright.height,
          info.stored_size.width,
          info.stored_size.height,
          info.orientation,
          info.format,
          info.notes,
          facts.refused,
          facts.remedy};
}

PictureFacts facts_from(const json& list) {
  PictureFacts facts;
  facts.upright = {list.at(0), list.at(1)};
  facts.info = {{list.at(2), list.at(3)}, list.at(4), list.at(5), list.at(6).get<std::vector<std::string>>()};
  facts.refused = list.at(7);
  facts.remedy = list.at(8);
  return facts;
}

}  // namespace

FileStamp stamp_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {status.st_size, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim), status.st_ino};
}

PictureCache::PictureCache(fs::path file) : file_(std::move(file)), started_ns_(now_ns()) {
  std::error_code ignored;
  if (file_.empty() || !fs::exists(file_, ignored)) return;
  try {
    const std::string text = base::read_file(file_);
    const std::vector<std::string> lines = base::split(text, '\n');
    const json head = json::parse(lines.at(0));
    if (head.at("version") != kVersion) return;
    written_ns_ = head.at("started_ns");
    for (std::size_t i = 1; i < lines.size(); ++i) {
      if (lines[i].empty()) continue;
      const json line = json::parse(lines[i]);
      const json& stamp = line.at("stamp");
      old_[line.at("picture")] = {{stamp.at(0), stamp.at(1), stamp.at(2), stamp.at(3)},
                                  line.at("sha256"),
                                  facts_from(line.at("facts"))};
    }
  } catch (const std::exception&) {
    old_.clear();  // it is only a cache
  }
}

std::optional<PictureFacts> PictureCache::find(const std::string& picture, const FileStamp& stamp) const {
  const auto found = old_.find(picture);
  if (found == old_.end() || stamp == FileStamp{} || !(found->second.stamp == stamp)) return std::nullopt;
  if (std::max(stamp.changed_ns, stamp.modified_ns) > written_ns_ - kRacyNs) return std::nullopt;
  return found->second.facts;
}

std::optional<PictureFacts> PictureCache::find_content(const std::string& picture,
                                                       const std::string& sha256) const {
  const auto found = old_.find(picture);
  if (found == old_.end() || found->second.sha256 != sha256) return std::nullopt;
  return found->second.facts;
}

void PictureCache::store(const std::string& picture, const FileStamp& stamp, const std::string& sha256,
                         const PictureFacts& facts) {
  const std::lock_guard lock(mutex_);
  new_[picture] = {stamp, sha256, facts};
}

void PictureCache::keep(const std::string& picture) {
  const auto found = old_.find(picture);
  if (found == old_.end()) return;
  const std::lock_guard lock(mutex_);
  new_[picture] = found->second;
}

void PictureCache::save(bool all) const {
  if (!enabled()) return;
  std::vector<std::pair<std::string, const Entry*>> entries;
  for (const auto& [picture, entry] : new_) entries.emplace_back(picture, &entry);
  if (all) {
    for (const auto& [picture, entry] : old_) {
      if (!new_.contains(picture)) entries.emplace_back(picture, &entry);
    }
  }
  std::sort(entries.begin(), entries.end());
  // What an interrupted import leaves unseen keeps the older, stricter time.
  const std::int64_t since = all && written_ns_ != 0 ? std::min(written_ns_, started_ns_) : started_ns_;
  std::string text = json({{"version", kVersion}, {"started_ns", since}}).dump() + "\n";
  for (const auto& [picture, entry] : entries) {
    const FileStamp& s = entry->stamp;
    text += json({{"picture", picture},
                  {"stamp", {s.size, s.modified_ns, s.changed_ns, s.inode}},
                  {"sha256", entry->sha256},
                  {"facts", as_json(entry->facts)}})
                .dump(-1, ' ', false, json::error_handler_t::replace) +
            "\n";
  }
  base::write_file(file_, text);
}

}  // namespace maskfit::dataset
