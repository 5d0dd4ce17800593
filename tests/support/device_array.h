#pragma once

// For tests of CUDA kernels; only in a build with CUDA.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

namespace maskfit::support {

inline void require(cudaError_t status) {
  ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status);
}

// A device array that starts as a copy of host values. May be empty: the pointer is valid all the same.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : count_(values.size()) {
    require(cudaMalloc(reinterpret_cast<void**>(&data_), count_ * sizeof(T) + 1));
    require(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> to_host() const {
    std::vector<T> values(count_);
    require(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

}  // namespace maskfit::support
