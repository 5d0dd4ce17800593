#include "model/fused_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace maskfit::model {
namespace {

// float32 pixels.
struct Reader {
  const float* values;
  int channels;
  double at(std::int64_t row, int channel) const {
    return values == nullptr ? 0 : values[row * channels + channel];
  }
};

Reader reader(const void* values, const Pixels& pixels) {
  return {static_cast<const float*>(values), pixels.channels};
}

double normalised(const NormArrays& norm, double x, int channel) {
  return (x - norm.mean[channel]) * norm.invstd[channel] * norm.gamma[channel] + norm.beta[channel];
}

double value_before_relu(const Pixels& pixels, const Normalise& job, std::int64_t row, int channel) {
  const double own = normalised(job.norm, reader(job.x, pixels).at(row, channel), channel);
  const double other = reader(job.other, pixels).at(row, channel);
  switch (job.shortcut) {
    case Shortcut::kNone:
      return own;
    case Shortcut::kPlain:
      return own + other;
    case Shortcut::kNormalised:
      return own + normalised(job.other_norm, other, channel);
  }
  return own;
}

double incoming_gradient(const Pixels& pixels, const Incoming& incoming, std::int64_t row, int channel) {
  const double first = reader(incoming.first, pixels).at(row, channel);
  if (incoming.second == nullptr) return first;
  std::int64_t second_row = row;
  if (incoming.stride > 1) {
    const std::int64_t stride = incoming.stride, width = incoming.width, height = incoming.height;
    const std::int64_t column = row % width, line = row / width % height, picture = row / width / height;
    if (column % stride != 0 || line % stride != 0) return first;
    const std::int64_t lines = (height + stride - 1) / stride, columns = (width + stride - 1) / stride;
    second_row = (picture * lines + line / stride) * columns + column / stride;
  }
  return first + reader(incoming.second, pixels).at(second_row, channel);
}

// dL/d(what the ReLU reads).
double masked_gradient(const Pixels& pixels, const NormBackward& job, std::int64_t row, int channel) {
  const bool open = !job.forward.relu || value_before_relu(pixels, job.forward, row, channel) > 0;
  return open ? incoming_gradient(pixels, job.incoming, row, channel) : 0;
}

// dL/dgamma of one of the norms.
double gamma_gradient(const Pixels& pixels, const NormBackward& job, const NormArrays& norm, const void* x,
                      int channel) {
  double sum = 0;
  for (std::int64_t row = 0; row < pixels.rows; ++row) {
    const double x_hat = (reader(x, pixels).at(row, channel) - norm.mean[channel]) * norm.invstd[channel];
    sum += masked_gradient(pixels, job, row, channel) * x_hat;
  }
  return sum;
}

// dL/dx of one of the norms for a channel.
void input_gradient(const Pixels& pixels, const NormBackward& job, const NormArrays& norm, const void* x,
                    double to_gamma, double to_beta, int channel, float* out) {
  const double rows = static_cast<double>(pixels.rows);
  for (std::int64_t row = 0; row < pixels.rows; ++row) {
    const double x_hat = (reader(x, pixels).at(row, channel) - norm.mean[channel]) * norm.invstd[channel];
    const double g = masked_gradient(pixels, job, row, channel);
    out[row * pixels.channels + channel] = static_cast<float>(norm.gamma[channel] * norm.invstd[channel] *
                                                              (g - to_beta / rows - x_hat * to_gamma / rows));
  }
}

}  // namespace

bool fused_norm_takes(int channels) {
  return channels > 0 && channels % 8 == 0;
}

void statistics_on_cpu(const Pixels& pixels, const Statistics& job) {
  const Reader x = reader(job.x, pixels);
  for (int c = 0; c < pixels.channels; ++c) {
    double sum = 0, squares = 0;
    for (std::int64_t row = 0; row < pixels.rows; ++row) sum += x.at(row, c);
    const double mean = sum / static_cast<double>(pixels.rows);
    for (std::int64_t row = 0; row < pixels.rows; ++row) {
      squares += (x.at(row, c) - mean) * (x.at(row, c) - mean);
    }
    const double variance = squares / static_cast<double>(pixels.rows);
    const double shown_mean = mean + (job.bias == nullptr ? 0 : job.bias[c]), m = job.momentum;
    job.mean[c] = static_cast<float>(mean);
    job.invstd[c] = static_cast<float>(1 / std::sqrt(variance + job.epsilon));
    job.moving_mean[c] = static_cast<float>(m * job.moving_mean[c] + (1 - m) * shown_mean);
    job.moving_variance[c] = static_cast<float>(m * job.moving_variance[c] + (1 - m) * variance);
  }
}

void normalise_on_cpu(const Pixels& pixels, const Normalise& job, void* y) {
  float* const out = static_cast<float*>(y);
  for (std::int64_t row = 0; row < pixels.rows; ++row) {
    for (int c = 0; c < pixels.channels; ++c) {
      const double value = value_before_relu(pixels, job, row, c);
      out[row * pixels.channels + c] = static_cast<float>(job.relu ? std::max(value, 0.0) : value);
    }
  }
}

void norm_backward_on_cpu(const Pixels& pixels, const NormBackward& job) {
  const Normalise& forward = job.forward;
  for (int c = 0; c < pixels.channels; ++c) {
    double to_beta = 0;
    for (std::int64_t row = 0; row < pixels.rows; ++row) to_beta += masked_gradient(pixels, job, row, c);
    const double to_gamma = gamma_gradient(pixels, job, forward.norm, forward.x, c);
    job.to_beta[c] = static_cast<float>(to_beta);
    job.to_gamma[c] = static_cast<float>(to_gamma);
    if (job.to_x == nullptr) continue;
    input_gradient(pixels, job, forward.norm, forward.x, to_gamma, to_beta, c, static_cast<float*>(job.to_x));
    if (forward.shortcut == Shortcut::kNormalised) {
      const double to_other = gamma_gradient(pixels, job, forward.other_norm, forward.other, c);
      job.to_other_gamma[c] = static_cast<float>(to_other);
      job.to_other_beta[c] = job.to_beta[c];
      input_gradient(pixels, job, forward.other_norm, forward.other, to_other, to_beta, c,
                     static_cast<float*>(job.to_other));
    }
    if (forward.shortcut != Shortcut::kPlain) continue;
    for (std::int64_t row = 0; row < pixels.rows; ++row) {
      static_cast<float*>(job.to_other)[row * pixels.channels + c] =
          static_cast<float>(masked_gradient(pixels, job, row, c));
    }
  }
}

}  // namespace maskfit::model
