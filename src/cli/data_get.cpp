#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/transfer_progress.h"
#include "dataset/public_sets.h"
#include "fetch/address.h"
#include "fetch/archive_reader.h"
#include "fetch/disk.h"
#include "fetch/download.h"
#include "fetch/kaggle.h"

namespace maskfit::cli {
namespace {

using base::Error;
using base::ExitCode;

struct Options {
  std::vector<std::string> what;
  std::string to = "downloads", digest;
  bool list = false, force = false;
  int tries = 8;
};

// One file to fetch: of a known set (`known`) or from an address.
struct Job {
  std::vector<std::string> addresses;
  const dataset::PublicSet* set = nullptr;
  fetch::DownloadOptions options;
  bool kaggle = false;
};

void print_list() {
  std::cout << fmt::format("{:<15} {:<14} {:<36} {}\n", "name", "size", "licence", "address");
  for (const dataset::PublicSet& set : dataset::public_sets()) {
    std::cout << fmt::format("{:<15} {:<14} {:<36} {}\n", set.name, "", set.licence, set.page);
    for (const dataset::PublicFile& file : set.files) {
      const std::string address =
          file.addresses.empty() ? "kaggle.com: " + file.kaggle : file.addresses.front();
      std::cout << fmt::format("  {:<13} {:<14} {:<36} {}\n", file.name, file.size, file.what.substr(0, 36),
                               address);
    }
    if (set.files.empty()) std::cout << "  by hand: `maskfit data get " << set.name << "` says how\n";
  }
}

// The steps that a person has to take, as the hint of an error.
Error by_hand(const std::string& what, const dataset::PublicSet& set, const std::string& folder) {
  std::string steps;
  int n = 0;
  for (const std::string& step : set.by_hand)
    steps += fmt::format("{}\n         {}. {}", n == 0 ? "do this:" : "", n + 1, step), ++n;
  steps += fmt::format(
      "\n         {}. put what you get, packed or not, into {}\n         {}. run: maskfit data organise {} "
      "--to sets",
      n + 1, folder, n + 2, folder);
  return Error(ExitCode::kFailed, what, set.page, steps);
}

Job known_job(const dataset::PublicSet& set, const dataset::PublicFile& file) {
  Job job{file.addresses, &set, {}, false};
  job.options.file_name = file.file_name;
  job.options.bytes = file.bytes;
  if (!file.digest.empty()) job.options.digest = fetch::parse_digest(file.digest);
  if (job.addresses.empty()) {
    job.addresses = {fetch::kaggle_address(file.kaggle)};
    job.kaggle = true;
  }
  return job;
}

std::vector<Job> jobs_of(const std::string& what, const Options& options) {
  if (fetch::is_web_address(what)) {
    Job job{{what}, nullptr, {}, false};
    if (const std::string name = fetch::kaggle_dataset_of(what); !name.empty()) {
      job.addresses = {fetch::kaggle_address(name)};
      job.options.file_name = name.substr(name.find('/') + 1) + ".zip";
      job.kaggle = true;
    }
    return {job};
  }
  if (const auto* set = dataset::find_public_set(what)) {
    if (set->files.empty()) {
      throw by_hand(set->title + " can only be fetched by a person in a browser", *set, options.to);
    }
    std::vector<Job> jobs;
    for (const dataset::PublicFile& file : set->files) {
      if (file.with_set) jobs.push_back(known_job(*set, file));
    }
    return jobs;
  }
  if (const dataset::NamedFile named = dataset::find_public_file(what); named.file != nullptr) {
    return {known_job(*named.set, *named.file)};
  }
  const std::string nearest = base::nearest_name(what, dataset::public_names());
  throw Error(ExitCode::kUsage, fmt::format("there is no set '{}'", what), "",
              nearest.empty()
                  ? "`maskfit data get --list` lists the names; an address begins with https://"
                  : fmt::format("did you mean '{}'? `maskfit data get --list` lists the names", nearest));
}

void add_kaggle_token(Job& job, const Options& options) {
  const auto token = fetch::find_kaggle_token(fetch::kaggle_environment());
  if (token) {
    job.options.user = token->user;
    job.options.password = token->key;
    return;
  }
  const std::string what = "Kaggle gives files only to its users, and there is no token";
  const std::string with_token =
      "at https://www.kaggle.com/settings click 'Create New Token', put the kaggle.json that comes into "
      "~/.kaggle/ (or "
      "set KAGGLE_USERNAME and KAGGLE_KEY) and run this again";
  if (job.set == nullptr) throw Error(ExitCode::kFailed, what, job.addresses.front(), with_token);
  dataset::PublicSet set = *job.set;
  set.by_hand.insert(set.by_hand.begin(), "either " + with_token + "; or:");
  throw by_hand(what, set, options.to);
}

// From the first of the addresses that gives the file.
fetch::Downloaded fetch_one(const Job& job) {
  for (std::size_t i = 0;; ++i) {
    try {
      return fetch::download(job.addresses[i], job.options);
    } catch (const Error& error) {
      const bool elsewhere = error.code() == ExitCode::kFailed || error.code() == ExitCode::kRefused;
      if (!elsewhere || i + 1 == job.addresses.size() || job.options.stop.stop_requested()) throw;
      spdlog::warn("{}: {}; trying another address", job.addresses[i], error.what());
    }
  }
}

// Reads an archive to its end. A server that states too small a length gives a file that looks complete.
class NothingKept : public fetch::ArchiveVisitor {
 public:
  void on_entry(const fetch::ArchiveEntry&, fetch::EntryReader&) override {}
  bool enter(const fetch::ArchiveEntry&) override { return false; }
};

// What is wrong with a file that no published digest vouches for; "" when nothing is, or it is no archive.
std::string archive_fault(const std::filesystem::path& file, base::StopToken stop) {
  NothingKept visitor;
  const fetch::ArchiveWalk walk = fetch::walk_archive(file, file.parent_path(), {}, visitor, stop);
  for (const fetch::ArchiveProblem& problem : walk.problems) {
    if (problem.fault == fetch::ArchiveFault::kTorn) return problem.what;
  }
  return "";
}

int run(const Options& options) {
  if (options.list || (options.what.size() == 1 && options.what.front() == "list")) {
    print_list();
    return 0;
  }
  if (options.what.empty()) {
    throw Error(ExitCode::kUsage, "say what to get: a name or an address", "",
                "`maskfit data get --list` lists the names");
  }
  std::vector<Job> jobs;
  for (const std::string& what : options.what) {
    for (Job& job : jobs_of(what, options)) jobs.push_back(std::move(job));
  }
  if (!options.digest.empty()) {
    if (jobs.size() != 1) throw Error(ExitCode::kUsage, "a digest belongs to one file", "--digest");
    jobs.front().options.digest = fetch::parse_digest(options.digest);
  }
  for (Job& job : jobs) {
    if (job.kaggle) add_kaggle_token(job, options);  // before anything is fetched
  }
  TransferProgress progress(stderr, is_terminal(stderr));
  for (Job& job : jobs) {
    job.options.folder = options.to;
    job.options.overwrite = options.force;
    job.options.retry.tries = options.tries;
    job.options.stop = base::interrupt_token();
    job.options.progress = progress.sink();
    job.options.notice = [&](const std::string& sentence) {
      progress.clear();
      spdlog::warn("{}", sentence);
    };
    const fetch::Downloaded file = fetch_one(job);
    progress.clear();
    std::cout << fmt::format("{}  {}{}\n  sha256 {}{}\n", file.file.string(), fetch::format_bytes(file.bytes),
                             file.was_there        ? ", was there already"
                             : file.resumed_at > 0 ? ", gone on from " + fetch::format_bytes(file.resumed_at)
                                                   : "",
                             file.sha256, file.checked ? ", as published" : "");
    if (file.checked) continue;
    if (const std::string fault = archive_fault(file.file, job.options.stop); !fault.empty()) {
      throw Error(ExitCode::kRefused, "the archive that came is broken: " + fault, file.file.string(),
                  "its server gives no digest to compare with; --force fetches it again");
    }
  }
  std::cout << fmt::format("\nnext: maskfit data organise '{}' --to sets\n", options.to);
  return 0;
}

}  // namespace

Command data_get_command() {
  return {"data get", "Download a public set by name, or any file by its address, with resume",
          [](CLI::App& app) -> std::function<int()> {
            auto o = std::make_shared<Options>();
            app.add_option("WHAT", o->what, "Names of sets or files (--list), or addresses");
            app.add_option("--to", o->to, "Folder for the files")->capture_default_str();
            app.add_option("--digest", o->digest,
                           "SHA-256 that the file must have (SHA-1 and MD5 are understood)");
            app.add_option("--tries", o->tries, "Tries in a row that bring nothing new before it gives up")
                ->check(CLI::Range(1, 1000))
                ->capture_default_str();
            app.add_flag("--list", o->list, "List the names that are known, with size, licence and address");
            app.add_flag("--force", o->force, "Fetch files again that are there");
            return [o] { return run(*o); };
          }};
}

}  // namespace maskfit::cli
