#pragma once

// A file from the web, whole or not at all. While it comes it is NAME.part with NAME.part.json beside it (the
// address and the version of the file at the server); a killed download goes on from there. Only the finished
// and checked file gets its name.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/interrupt.h"
#include "fetch/file_digest.h"
#include "fetch/progress.h"
#include "fetch/retry.h"

namespace maskfit::fetch {

struct DownloadOptions {
  std::filesystem::path folder;  // made when missing
  std::string file_name;         // "": as the server or the address says
  std::optional<Digest> digest;  // published; compared at the end
  std::uint64_t bytes = 0;       // published size, 0 when not known; compared at the end
  std::string user, password;
  bool overwrite = false;
  int max_redirects = 10;
  double stall_seconds = 60;
  std::uint64_t spare_disk_bytes = 64u << 20u;  // left free
  RetryPolicy retry;
  ProgressSink progress;
  NoticeSink notice;
  base::StopToken stop;
};

struct Downloaded {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::uint64_t resumed_at = 0;  // bytes that an earlier, interrupted run had left
  bool was_there = false;        // the finished file was: nothing was fetched
  bool checked = false;          // against a published digest
  std::string sha256;
};

// Throws base::Error:
//   kUsage        no address
//   kFailed       the server says no, is not there, or keeps dropping; what came is kept and the hint says so
//   kRefused      what came is a web page, or not what its publisher measured
//   kMachine      no room
//   kInterrupted  Ctrl-C; what came is kept
Downloaded download(const std::string& url, const DownloadOptions& options);

}  // namespace maskfit::fetch
