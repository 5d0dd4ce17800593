// Forward passes as `infer` runs them: batch norms folded, outputs in float32. The yardstick is
// bench/pytorch_infer.py with the same options; bench/infer_speed.sh runs both.
//
//   infer_speed [--model FILE | --backbone resnet18 --size 960x544] [--batch 1] [--precision fp32|bf16|fp16]
//               [--device cpu|cuda] [--passes N] [--blocks N]
//
// Prints one JSON line for each way to launch: the passes one by one, and (on a GPU) replayed from a CUDA
// graph, whose outputs must be the same to the last bit.

#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#ifdef MASKFIT_WITH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include "model/detector.h"
#include "model/outputs.h"
#include "network/backbones.h"
#include "network/model_file.h"
#include "tensor/device.h"
#include "tensor/library.h"

namespace {

using namespace maskfit;

struct Options {
  std::string model, backbone = "resnet18", size = "960x544", precision = "fp32", device = "cpu";
  int batch = 1, passes = 50, blocks = 7, classes = 2;
};

network::Network network_of(const Options& options) {
  if (!options.model.empty()) return network::read_model(options.model).network;
  network::Shape input{3, 0, 0};
  if (std::sscanf(options.size.c_str(), "%dx%d", &input.width, &input.height) != 2)
    throw std::runtime_error("--size WIDTHxHEIGHT");
  network::Network network = network::make_detectnet({.backbone = options.backbone,
                                                      .input = input,
                                                      .classes = options.classes,
                                                      .all_projections = true,
                                                      .neck = {}});
  network::initialise(network, 1);
  return network;
}

void measure(const Options& options, const network::Shape& input, const at::Tensor& images,
             const std::string& launch, const std::function<void()>& pass) {
  for (int i = 0; i < 3; ++i) pass();
  std::vector<double> rates;
  for (int block = 0; block < options.blocks; ++block) {
    tensor::synchronise(images.device());
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < options.passes; ++i) pass();
    tensor::synchronise(images.device());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    rates.push_back(options.passes * options.batch / seconds.count());
  }
  std::sort(rates.begin(), rates.end());
  std::printf("%s\n",
              nlohmann::json{{"what", "maskfit"},
                             {"version", tensor::library_facts().version},
                             {"launch", launch},
                             {"device", options.device},
                             {"network", options.model.empty() ? options.backbone : options.model},
                             {"size", std::to_string(input.width) + "x" + std::to_string(input.height)},
                             {"batch", options.batch},
                             {"precision", options.precision},
                             {"images_per_second", rates[rates.size() / 2]},
                             {"min", rates.front()},
                             {"max", rates.back()}}
                  .dump()
                  .c_str());
}

#ifdef MASKFIT_WITH_CUDA
void measure_graph(const Options& options, const network::Shape& input, const at::Tensor& images,
                   model::Detector& detector) {
  const model::Outputs expected = detector.forward(images, /*training=*/false);
  tensor::synchronise(images.device());
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(false, images.device().index());
  const c10::cuda::CUDAStreamGuard guard(stream);
  detector.forward(images, /*training=*/false);  // this stream's handles and workspaces
  tensor::synchronise(images.device());
  at::cuda::CUDAGraph graph;
  graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  const model::Outputs outputs = detector.forward(images, /*training=*/false);
  graph.capture_end();
  outputs.cov.zero_();
  outputs.bbox.zero_();
  measure(options, input, images, "graph", [&] { graph.replay(); });
  if (!at::equal(outputs.cov, expected.cov) || !at::equal(outputs.bbox, expected.bbox))
    throw std::runtime_error("the graph's outputs are not those of the single launches");
}
#endif

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Forward passes on synthetic input");
  app.add_option("--model", options.model, "a model file, a pruned one for example, instead of a backbone");
  app.add_option("--backbone", options.backbone);
  app.add_option("--size", options.size);
  app.add_option("--batch", options.batch);
  app.add_option("--precision", options.precision);
  app.add_option("--device", options.device);
  app.add_option("--passes", options.passes, "passes in a timed block");
  app.add_option("--blocks", options.blocks);
  CLI11_PARSE(app, argc, argv);

  const network::Network network = network_of(options);
  model::Detector detector(network, options.device, model::precision_from_name(options.precision));
  detector.fold_for_inference();
  const at::Tensor images =
      at::rand({options.batch, network.input.channels, network.input.height, network.input.width})
          .to(tensor::device_from_name(options.device));
  measure(options, network.input, images, "single", [&] { detector.forward(images, /*training=*/false); });
#ifdef MASKFIT_WITH_CUDA
  if (images.is_cuda()) measure_graph(options, network.input, images, detector);
#endif
}
