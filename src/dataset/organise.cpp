#include "dataset/organise.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "dataset/organise_layout.h"
#include "dataset/organise_scan.h"
#include "fetch/disk.h"
#include "fetch/placer.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

constexpr char kJournalName[] = ".maskfit-organise.json";

// "size-mtime": what an archive looked like when all that it gives was put in place.
std::string stamp(const fs::path& file) {
  struct stat facts = {};
  if (::stat(file.c_str(), &facts) != 0) return "";
  return fmt::format("{}-{}.{:09d}", facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

using Journal = std::map<std::string, std::string>;  // archive -> stamp

Journal read_journal(const fs::path& to) {
  std::error_code ignored;
  Journal journal;
  if (!fs::exists(to / kJournalName, ignored)) return journal;
  const auto json = nlohmann::json::parse(base::read_file(to / kJournalName), nullptr, false);
  if (!json.is_object() || !json.contains("archives") || !json["archives"].is_object()) return journal;
  for (const auto& [archive, text] : json["archives"].items()) {
    if (text.is_string()) journal[archive] = text.get<std::string>();
  }
  return journal;
}

void write_journal(const fs::path& to, const Journal& journal) {
  const nlohmann::json json = {{"archives", journal}};
  base::write_file(to / kJournalName,
                   json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

bool same_size(const fs::path& file, std::uint64_t size) {
  std::error_code error;
  return fs::is_regular_file(file, error) && fs::file_size(file, error) == size && !error;
}

bool same_disk(const fs::path& a, const fs::path& b) {
  struct stat one = {}, two = {};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &two) == 0 && one.st_dev == two.st_dev;
}

// The second pass.
class Organiser : public fetch::ArchiveVisitor {
 public:
  Organiser(const OrganiseOptions& options, OrganiseReport* report) : options_(options), report_(report) {}

  // What must be done, and whether there is room for it.
  void plan(const Layout& layout) {
    journal_ = read_journal(options_.to);
    const fs::path where = fetch::existing_ancestor(options_.to);
    for (const auto& [target, candidates] : layout) {
      const FoundFile& file = *candidates.front();
      const bool there = same_size(options_.to / target, file.size);
      if (file.inside.empty()) {
        files_.emplace_back(&file, target);
        if (!there && (options_.copy || !same_disk(file.file, where))) report_->bytes_to_write += file.size;
        continue;
      }
      const auto known = journal_.find(file.file.string());
      if (there && known != journal_.end() && known->second == stamp(file.file)) {
        ++done_before_;
        continue;
      }
      archives_[file.file][file.inside] = {&file, target};
      if (!there) report_->bytes_to_write += file.size;
    }
    fetch::require_free(options_.to, report_->bytes_to_write, options_.spare_disk_bytes, "unpacking");
  }

  void apply() {
    fetch::Placer placer(options_.to);
    placer_ = &placer;
    report_->were_there += done_before_;
    for (const auto& [file, target] : files_) {
      options_.stop.throw_if_requested();
      count(placer.link(file->file, target, options_.overwrite, options_.copy, options_.stop), *file, target);
    }
    for (auto& [archive, wanted] : archives_) {
      wanted_ = &wanted;
      const fetch::ArchiveWalk walk =
          fetch::walk_archive(archive, options_.to, options_.limits, *this, options_.stop);
      for (const auto& [inside, entry] : wanted) {
        ++report_->not_placed;
        report_->findings.push_back({base::Severity::kRefused, entry.first->path, 0, "",
                                     "it could not be unpacked",
                                     "fetch the archive again, or give another copy of it as well"});
      }
      if (wanted.empty()) journal_[archive.string()] = stamp(archive);
      write_journal(options_.to, journal_);
    }
  }

  void on_entry(const fetch::ArchiveEntry& entry, fetch::EntryReader& reader) override {
    const auto at = wanted_->find(entry.path);
    if (at == wanted_->end()) return;
    const auto [file, target] = at->second;
    const fetch::Placed placed = placer_->write([&] { return reader.read(); }, target, options_.overwrite);
    count(placed, *file, target);
    wanted_->erase(at);
  }

  bool enter(const fetch::ArchiveEntry& archive) override {
    const auto at = wanted_->lower_bound(archive.path + "/");
    return at != wanted_->end() && at->first.starts_with(archive.path + "/");
  }

 private:
  void count(fetch::Placed placed, const FoundFile& file, const std::string& target) {
    switch (placed) {
      case fetch::Placed::kLinked:
        ++report_->linked;
        break;
      case fetch::Placed::kCopied:
        ++report_->written;
        done_bytes_ += file.size;
        break;
      case fetch::Placed::kWasThere:
        ++report_->were_there;
        break;
      case fetch::Placed::kDiffers:
        ++report_->not_placed;
        report_->findings.push_back(
            {base::Severity::kRefused, file.path, 0, "",
             fmt::format("another file is there already: {}", (options_.to / target).string()),
             "look which one is right; --force takes the new one"});
    }
    if (options_.progress) {
      options_.progress(
          {"laying out", std::min(done_bytes_, report_->bytes_to_write), report_->bytes_to_write, 0});
    }
  }

  using Wanted =
      std::map<std::string, std::pair<const FoundFile*, std::string>>;  // path inside -> file, target

  const OrganiseOptions& options_;
  OrganiseReport* report_;
  Journal journal_;
  std::vector<std::pair<const FoundFile*, std::string>> files_;
  std::map<fs::path, Wanted> archives_;
  Wanted* wanted_ = nullptr;
  fetch::Placer* placer_ = nullptr;
  std::uint64_t done_before_ = 0, done_bytes_ = 0;
};

}  // namespace

std::uint64_t OrganiseReport::found_of(const std::string& set) const {
  std::uint64_t n = 0;
  for (const PartStatus& line : parts) {
    if (line.set == set) n += line.found;
  }
  return n;
}

OrganiseReport organise(const OrganiseOptions& options) {
  OrganiseReport report;
  const std::vector<FoundFile> found = scan(options, &report);
  const Layout layout = lay_out(found, &report);
  Organiser organiser(options, &report);
  organiser.plan(layout);
  if (!options.dry_run && !layout.empty()) organiser.apply();
  return report;
}

}  // namespace maskfit::dataset
