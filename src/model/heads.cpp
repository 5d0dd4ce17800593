// The heads in bfloat16's matrix units with float32's digits. A float32 number is the sum of three bfloat16
// numbers, so a product with a bfloat16 pixel is the sum of three exact products; the units add in float32.

#include <ATen/ops/cat.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include "model/detector_impl.h"
#include "tensor/version.h"

namespace maskfit::model {
namespace {

struct Parts {
  at::Tensor high, middle, low;
};

Parts split(const at::Tensor& x) {
  Parts parts;
  parts.high = x.to(at::kBFloat16);
  const at::Tensor rest = x.sub(parts.high);
  parts.middle = rest.to(at::kBFloat16);
  parts.low = rest.sub(parts.middle).to(at::kBFloat16);
  return parts;
}

// Side by side, with columns of zeros up to a multiple of 8: matrix units read 16 bytes at a time.
at::Tensor beside(std::vector<at::Tensor> columns) {
  std::int64_t width = 0;
  for (const at::Tensor& part : columns) width += part.size(1);
  if (width % 8 != 0) columns.push_back(at::zeros({columns[0].size(0), 8 - width % 8}, columns[0].options()));
  return at::cat(columns, 1);
}

// [N][C][H][W] in channels-last memory as [pixels][C].
at::Tensor as_rows(const at::Tensor& pixels) {
  return pixels.permute({0, 2, 3, 1}).reshape({-1, pixels.size(1)});
}

}  // namespace

bool Detector::Impl::splits_head(const Step& step) const {
  const network::Node& conv = node(step);
  return step.head && type == at::kBFloat16 && conv.kernel == 1 && conv.stride == 1 && conv.padding == 0 &&
         (options.kernels == Kernels::kFused || (options.kernels == Kernels::kBest && device.is_cuda()));
}

// kernel: float32 [K][C][1][1]; bias: [K] or undefined. Returns float32 [N][K][H][W] in channels-last memory.
at::Tensor Detector::Impl::run_split_head(const at::Tensor& x, const at::Tensor& kernel,
                                          const at::Tensor& bias) {
  const std::int64_t outputs = kernel.size(0);
  const Parts weights = split(kernel.reshape({outputs, -1}).t());  // [C][K] each
  const at::Tensor sums = tensor::multiply_to_float(as_rows(x.contiguous(format)),
                                                    beside({weights.high, weights.middle, weights.low}));
  at::Tensor y = sums.narrow(1, 0, outputs)
                     .add(sums.narrow(1, outputs, outputs))
                     .add_(sums.narrow(1, 2 * outputs, outputs));
  if (bias.defined()) y.add_(bias);
  return y.view({x.size(0), x.size(2), x.size(3), outputs}).permute({0, 3, 1, 2});
}

// gradient: float32 [N][K][H][W]. The pixels' gradient is rounded to bfloat16, as every other one.
Detector::Impl::HeadGradients Detector::Impl::backward_split_head(const at::Tensor& x,
                                                                  const at::Tensor& kernel,
                                                                  const at::Tensor& gradient,
                                                                  bool to_pixels) {
  const std::int64_t outputs = kernel.size(0);
  const at::Tensor rows = as_rows(gradient);
  const Parts g = split(rows);
  const at::Tensor left = beside({g.high, g.middle, g.low, g.high});  // [pixels][4 K]
  HeadGradients result;
  result.bias = rows.sum(0);
  const at::Tensor sums = tensor::multiply_to_float(left.t(), as_rows(x.contiguous(format)));  // [4 K][C]
  result.kernel = sums.narrow(0, 0, outputs)
                      .add(sums.narrow(0, outputs, outputs))
                      .add_(sums.narrow(0, 2 * outputs, outputs))
                      .view(kernel.sizes());
  if (!to_pixels) return result;
  const Parts weights = split(kernel.reshape({outputs, -1}).t());
  const at::Tensor right = beside({weights.high, weights.high, weights.high, weights.middle});  // [C][4 K]
  result.pixels =
      at::mm(left, right.t()).view({x.size(0), x.size(2), x.size(3), x.size(1)}).permute({0, 3, 1, 2});
  return result;
}

}  // namespace maskfit::model
