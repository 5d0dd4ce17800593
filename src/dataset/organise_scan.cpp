#include "dataset/organise_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "fetch/disk.h"
#include "fetch/web_page.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kFirstBytes = 1024;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// NAME.z01 and NAME.r01; NAME.7z.001, NAME.tar.001, ...
bool is_split_archive(const std::string& lower) {
  const std::size_t dot = lower.rfind('.');
  if (dot == std::string::npos) return false;
  const std::string_view ending = std::string_view(lower).substr(dot + 1);
  if (ending.size() != 3) return false;
  if (ending[0] == 'z' || ending[0] == 'r') return all_digits(ending.substr(1));
  const std::string_view before = std::string_view(lower).substr(0, dot);
  return all_digits(ending) &&
         (before.ends_with(".7z") || before.ends_with(".zip") || before.ends_with(".rar") ||
          before.ends_with(".tar") || before.ends_with(".gz"));
}

bool named_like_archive(const std::string& lower) {
  for (const char* ending :
       {".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".7z", ".rar", ".tbz2", ".txz", ".gz"}) {
    if (lower.ends_with(ending)) return true;
  }
  return false;
}

// Takes the entries of one archive into the catalogue.
class Lister : public fetch::ArchiveVisitor {
 public:
  Lister(const fs::path& archive, const OrganiseOptions& options, std::vector<FoundFile>* found,
         OrganiseReport* report)
      : archive_(archive), options_(options), found_(found), report_(report) {}

  void on_entry(const fetch::ArchiveEntry& entry, fetch::EntryReader& reader) override {
    ++report_->files;
    FoundFile file;
    file.path = archive_.string() + "/" + entry.path;
    file.file = archive_;
    file.inside = entry.path;
    file.size = entry.size;
    const std::string first(reader.read());
    const auto whole = [&] {
      std::string bytes = first;
      for (std::string_view more = reader.read(); !more.empty(); more = reader.read()) bytes += more;
      return bytes;
    };
    recognise(file, first, whole, &report_->findings);
    seen_ += file.size;
    if (options_.progress)
      options_.progress({"looking through " + archive_.filename().string(), seen_, 0, 0});
    if (file.kind == FoundKind::kOther) {
      ++report_->others;
    } else {
      found_->push_back(std::move(file));
    }
  }
  bool enter(const fetch::ArchiveEntry&) override {
    ++report_->archives;
    return true;
  }

 private:
  fs::path archive_;
  const OrganiseOptions& options_;
  std::vector<FoundFile>* found_;
  OrganiseReport* report_;
  std::uint64_t seen_ = 0;
};

class Scanner {
 public:
  Scanner(const OrganiseOptions& options, OrganiseReport* report) : options_(options), report_(report) {}

  std::vector<FoundFile> run() {
    for (const fs::path& source : options_.sources) {
      const fs::path whole = fs::absolute(source).lexically_normal();
      if (fs::is_directory(whole)) {
        folder(whole);
      } else {
        file(whole);
      }
    }
    return std::move(found_);
  }

 private:
  void finding(base::Severity severity, const fs::path& path, const std::string& what,
               const std::string& remedy) {
    report_->findings.push_back({severity, path.string(), 0, "", what, remedy});
  }

  void folder(const fs::path& path) {
    options_.stop.throw_if_requested();
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
      entries.push_back(*it);
    if (error)
      finding(base::Severity::kRefused, path, "the folder cannot be read: " + error.message(),
              "look at its permissions");
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.path().native() < b.path().native(); });
    for (const fs::directory_entry& entry : entries) {
      if (entry.path().filename().native().starts_with(".maskfit-")) continue;  // of a run under way
      if (entry.is_symlink(error) && entry.is_directory(error)) {
        finding(base::Severity::kWarning, entry.path(), "a link to a folder is not followed",
                "give the folder itself as well");
      } else if (entry.is_directory(error)) {
        folder(entry.path());
      } else if (entry.is_regular_file(error)) {
        file(entry.path());
      }
    }
  }

  void file(const fs::path& path) {
    options_.stop.throw_if_requested();
    std::error_code error;
    FoundFile found;
    found.path = path.string();
    found.file = path;
    found.size = fs::file_size(path, error);
    std::string first(kFirstBytes, '\0');
    std::ifstream in(path, std::ios::binary);
    if (error || !in) {
      ++report_->files;
      ++report_->others;
      return finding(base::Severity::kRefused, path, "the file cannot be read", "look at its permissions");
    }
    in.read(first.data(), static_cast<std::streamsize>(first.size()));
    first.resize(static_cast<std::size_t>(in.gcount()));
    if (fetch::looks_like_archive(first)) return archive(path);
    ++report_->files;
    recognise(
        found, first, [&] { return base::read_file(path); }, &report_->findings);
    if (found.kind != FoundKind::kOther) {
      found_.push_back(std::move(found));
      return;
    }
    ++report_->others;
    explain_other(path, first, found.size);
  }

  // Files that a person will wonder about.
  void explain_other(const fs::path& path, const std::string& first, std::uint64_t size) {
    const std::string lower = base::to_lower(path.filename().string());
    if (lower.ends_with(".crdownload") || lower.ends_with(".part") || lower.ends_with(".downloading") ||
        lower.ends_with(".!ut") || lower.ends_with(".aria2")) {
      finding(base::Severity::kWarning, path, "an unfinished download", "let it finish, then run this again");
    } else if (is_split_archive(lower)) {
      finding(base::Severity::kRefused, path, "a part of a split archive",
              "join the parts first: `cat NAME.zip.0* > NAME.zip`, or for .z01: `zip -s 0 NAME.zip --out "
              "whole.zip`");
    } else if (named_like_archive(lower) && fetch::looks_like_web_page(first, "text/html")) {
      finding(base::Severity::kRefused, path, "this is a web page, not an archive",
              "the download gave a page (a login or a confirmation) instead of the file: fetch it again");
    } else if (named_like_archive(lower)) {
      finding(base::Severity::kRefused, path,
              size == 0 ? "the file is empty" : "this is no archive that can be read", "fetch it again");
    }
  }

  void archive(const fs::path& path) {
    ++report_->archives;
    const std::size_t before = found_.size();
    Lister lister(path, options_, &found_, report_);
    const fetch::ArchiveWalk walk = fetch::walk_archive(path, fetch::existing_ancestor(options_.to),
                                                        options_.limits, lister, options_.stop);
    report_->archive_problems.insert(report_->archive_problems.end(), walk.problems.begin(),
                                     walk.problems.end());
    const bool bomb = std::any_of(walk.problems.begin(), walk.problems.end(), [](const auto& problem) {
      return problem.fault == fetch::ArchiveFault::kBomb;
    });
    if (!bomb) return;
    report_->others += found_.size() - before;  // nothing of such an archive is used
    found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(before), found_.end());
  }

  const OrganiseOptions& options_;
  OrganiseReport* report_;
  std::vector<FoundFile> found_;
};

void check_sources(const OrganiseOptions& options) {
  if (options.sources.empty())
    throw base::Error(base::ExitCode::kUsage, "give at least one folder or archive");
  for (const fs::path& source : options.sources) {
    std::error_code error;
    if (fs::exists(source, error)) continue;
    throw base::Error(base::ExitCode::kUsage, "there is no such folder or file", source.string(),
                      fmt::format("the path exists up to '{}'; quote names with blanks; nothing was written",
                                  fetch::existing_ancestor(source).string()));
  }
}

}  // namespace

std::vector<FoundFile> scan(const OrganiseOptions& options, OrganiseReport* report) {
  check_sources(options);
  return Scanner(options, report).run();
}

}  // namespace maskfit::dataset
