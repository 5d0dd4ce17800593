// What a large manifest costs:
//
//   manifest_speed FOLDER [PICTURES]
//
// Each stage runs in a process of its own, so that its peak of memory is its own: write a synthetic manifest
// of 1,000,000 pictures with two boxes each, load it, draw a split of it, filter it (boxes below 24 pixels
// become regions to ignore, pictures without an object go), write what is left.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "base/error.h"
#include "base/rng.h"
#include "dataset/dataset.h"
#include "dataset/split.h"

namespace {

using maskfit::dataset::Dataset;
using maskfit::dataset::Sample;
namespace fs = std::filesystem;

Dataset synthetic(std::int64_t pictures) {
  Dataset data;
  data.class_names = {"mask", "no-mask"};
  data.samples.reserve(static_cast<std::size_t>(pictures));
  for (std::int64_t i = 0; i < pictures; ++i) {
    maskfit::base::Rng rng(1, maskfit::base::Purpose::kTest, 0, static_cast<std::uint64_t>(i));
    Sample sample;
    sample.id = fmt::format("source{:02}/images/picture_{:08}", i % 20, i);
    sample.image = "/data/" + sample.id + ".jpg";
    sample.width = 960;
    sample.height = 544;
    sample.split = i % 10 == 0 ? "val" : "train";
    for (int box = 0; box < 2; ++box) {
      const auto x = static_cast<float>(rng.uniform_int(0, 800)),
                 y = static_cast<float>(rng.uniform_int(0, 400));
      const auto side = static_cast<float>(rng.uniform_int(4, 140));
      sample.boxes.push_back({{x, y, x + side, y + side}, data.class_names[i % 3 == 0 ? 1 : 0], false, {}});
    }
    data.samples.push_back(std::move(sample));
  }
  maskfit::dataset::normalise(data);
  return data;
}

void filter(Dataset* data) {
  for (Sample& sample : data->samples) {
    for (auto& box : sample.boxes) box.ignore = box.ignore || box.box_in_image.width() < 24;
  }
  std::erase_if(data->samples, [](const Sample& sample) {
    return std::all_of(sample.boxes.begin(), sample.boxes.end(), [](const auto& box) { return box.ignore; });
  });
}

void draw(Dataset* data) {
  std::vector<std::string> strata;
  strata.reserve(data->samples.size());
  for (Sample& sample : data->samples) {
    sample.split.clear();
    strata.push_back(sample.id.substr(0, 8) + sample.boxes.front().class_name);
  }
  maskfit::dataset::draw_splits(data->samples, strata, {});
}

// In a child, so that nothing of an earlier stage counts.
void stage(const char* name, const std::function<std::size_t()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      std::cerr << fmt::format("{} pictures, ", work());
      ::_exit(0);
    } catch (const maskfit::base::Error& error) {
      std::cerr << error.what() << "\n";
      ::_exit(1);
    }
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  std::cerr << fmt::format("{:24} {:6.2f} s wall {:6.2f} s processor {:6.0f} MB peak\n", name,
                           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                           seconds(usage.ru_utime) + seconds(usage.ru_stime),
                           static_cast<double>(usage.ru_maxrss) / 1024);
  if (status != 0) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "manifest_speed FOLDER [PICTURES]\n";
    return 2;
  }
  using maskfit::dataset::read_dataset;
  using maskfit::dataset::write_dataset;
  const fs::path folder = argv[1];
  const std::int64_t pictures = argc > 2 ? std::atoll(argv[2]) : 1'000'000;
  stage("make and write", [&] {
    Dataset data = synthetic(pictures);
    data.root = folder / "set";
    write_dataset(data, {}, "bench");
    return data.samples.size();
  });
  stage("load", [&] { return read_dataset(folder / "set").samples.size(); });
  stage("load, draw a split", [&] {
    Dataset data = read_dataset(folder / "set");
    draw(&data);
    return data.samples.size();
  });
  stage("load, filter", [&] {
    Dataset data = read_dataset(folder / "set");
    filter(&data);
    return data.samples.size();
  });
  stage("load, filter, write", [&] {
    Dataset data = read_dataset(folder / "set");
    filter(&data);
    data.root = folder / "filtered";
    write_dataset(data, {}, "bench");
    return data.samples.size();
  });
  return 0;
}
