// The import and the full audit of a folder of JPEGs against a plain decode loop of libjpeg-turbo over the
// same files on the same cores:
//
//   import_speed FOLDER [ROUNDS]
//
// They take turns, so that another load of the machine meets all. Wall and processor time of the best round
// each; the loop reads each file, decodes it to RGB with the decoder's default settings and forgets it. The
// audit follows the import as `maskfit data check --report` does: it finds in the cache what the import
// learnt of each picture, as soon as the files are old enough (two seconds) for their times to prove
// something.

#include <fmt/format.h>
#include <sys/resource.h>
#include <turbojpeg.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "audit/audit.h"
#include "audit/page.h"
#include "audit/to_json.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dataset/import.h"
#include "dataset/picture_cache.h"
#include "tests/support/temp_dir.h"

namespace {

namespace fs = std::filesystem;

struct Time {
  double wall = 1e9, processor = 1e9;
};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measure(const std::function<void()>& work, Time* best) {
  const auto start = std::chrono::steady_clock::now();
  const double before = processor_seconds();
  work();
  best->processor = std::min(best->processor, processor_seconds() - before);
  best->wall =
      std::min(best->wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

void decode(const fs::path& file) {
  const std::string bytes = maskfit::base::read_file(file);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  tjhandle handle = tjInitDecompress();
  int width = 0, height = 0, subsampling = 0, colorspace = 0;
  if (tjDecompressHeader3(handle, data, bytes.size(), &width, &height, &subsampling, &colorspace) == 0) {
    std::vector<unsigned char> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
    tjDecompress2(handle, data, bytes.size(), pixels.data(), width, 0, height, TJPF_RGB, 0);
  }
  tjDestroy(handle);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "import_speed FOLDER [ROUNDS]\n";
    return 2;
  }
  const fs::path folder = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  std::vector<fs::path> pictures;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (maskfit::base::to_lower(entry.path().extension().string()) == ".jpg")
      pictures.push_back(entry.path());
  }
  Time loop, import, audit, again, audit_again;
  try {
    for (int round = 0; round < rounds; ++round) {
      measure(
          [&] {
            maskfit::base::parallel_for(static_cast<std::int64_t>(pictures.size()), [&](std::int64_t i) {
              decode(pictures[static_cast<std::size_t>(i)]);
            });
          },
          &loop);
      const maskfit::support::TempDir target;
      const auto run = [&] {
        maskfit::dataset::ImportOptions options;
        options.classes = maskfit::dataset::ClassMap("*");
        options.cache = target / maskfit::dataset::kPictureCacheName;
        auto result = maskfit::dataset::import_folders({folder}, options);
        result.dataset.root = target.path();
        maskfit::dataset::write_dataset(result.dataset, result.findings, "bench");
      };
      const auto check = [&] {
        const maskfit::dataset::Dataset data = maskfit::dataset::read_dataset(target.path());
        maskfit::audit::AuditOptions options;
        options.cache = target / maskfit::dataset::kPictureCacheName;
        const maskfit::audit::Audit result = maskfit::audit::audit(data, options);
        maskfit::audit::write_page(target / "report", result, data, "bench");
        maskfit::base::write_file(target / "report" / "audit.json",
                                  maskfit::audit::to_json(result, data, -1));
      };
      measure(run, &import);
      measure(check, &audit);
      measure(run, &again);
      measure(check, &audit_again);
    }
  } catch (const maskfit::base::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  std::cout << fmt::format("{} pictures, {} cores, best of {}\n", pictures.size(),
                           maskfit::base::usable_cores(), rounds);
  const auto print = [&](const char* name, const Time& time) {
    std::cout << fmt::format(
        "{:14} {:6.2f} s wall  {:6.2f} s processor  {:5.2f} x the loop's processor time\n", name, time.wall,
        time.processor, time.processor / loop.processor);
  };
  print("decode loop", loop);
  print("import", import);
  print("audit", audit);
  print("both", {import.wall + audit.wall, import.processor + audit.processor});
  print("second import", again);
  print("second audit", audit_again);
  return 0;
}
