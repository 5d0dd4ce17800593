#pragma once

// From activations to 8-bit scales. Feed it the training pictures as the network sees them, without
// augmentation.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "export/executor.h"

namespace maskfit::exporting {

enum class CalibrationMethod {
  kEntropy,  // the cut whose 128 levels lose least information (Migacz, "8-bit inference with TensorRT", GTC
             // 2017)
  kPercentile,  // 99.99 % of the values that are not 0 fit
  kMinMax,      // everything fits
};
CalibrationMethod calibration_method_from_name(
    const std::string& name);  // entropy, percentile, minmax; (kUsage)
const char* name_of(CalibrationMethod method);

// Magnitudes of one tensor's values, zeros left out (they are exact in any scale). The width of a bin is a
// power of two and doubles when a larger value comes, so the counts do not depend on the order of the
// pictures.
class MagnitudeHistogram {
 public:
  void add(std::span<const float> values);
  void merge(const MagnitudeHistogram& other);

  float largest() const { return largest_; }
  bool finite() const { return finite_; }  // false once a NaN or an infinity was added
  // The magnitude that becomes 127. 0 when every value was 0.
  float range(CalibrationMethod method) const;

 private:
  void widen_to(float magnitude);
  float entropy_range() const;
  float percentile_range(double share) const;

  static constexpr int kBins = 8192;
  int exponent_ = -20;  // the histogram reaches from 0 to 2^exponent_
  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(kBins, 0);
  std::int64_t total_ = 0;
  float largest_ = 0;
  bool finite_ = true;
};

// Histograms of every node's output over the pictures added.
class Calibrator {
 public:
  // The network in real numbers, batch norms folded.
  explicit Calibrator(const network::Model& model);

  void add(const std::vector<std::span<const float>>& pictures);
  std::int64_t pictures() const { return pictures_; }

  // Scale by node. Throws base::Error (kRefused) naming the node where numbers are not finite; a node that
  // was 0 on every picture has the scale 1/127. Max pools and upsamplings keep the scale of what they read,
  // as integers would.
  std::map<std::string, float> scales(CalibrationMethod method) const;
  std::map<std::string, float> largest() const;  // magnitudes by node

 private:
  network::Network network_;
  Executor executor_;
  std::mutex mutex_;
  std::map<std::string, MagnitudeHistogram> histograms_;
  std::int64_t pictures_ = 0;
};

}  // namespace maskfit::exporting
