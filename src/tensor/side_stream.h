#pragma once

// Results of a GPU brought home by another thread, while the thread that computes goes on.

#include <c10/core/Device.h>

#include <memory>

namespace maskfit::tensor {

// A moment in the work that this thread has given to a device.
class Moment {
 public:
  // Now. Nothing on a CPU, where all that was asked for is done.
  explicit Moment(c10::Device device);
  ~Moment();
  Moment(Moment&&) noexcept;
  Moment& operator=(Moment&&) noexcept;

  // Blocks this thread until the device has got so far.
  void wait() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// While it lives, what this thread asks of the device neither waits for the work of other threads nor holds
// it up. Memory that others write has to be ready before: see Moment.
class SideStream {
 public:
  explicit SideStream(c10::Device device);
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::tensor
