#include "train/nccl_mean.h"

#include "base/error.h"
#ifdef MASKFIT_WITH_CUDA
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tensor/device.h"
#endif

namespace maskfit::train {

#ifdef MASKFIT_WITH_CUDA

namespace {

using base::Error;
using base::ExitCode;

// From NCCL's public interface, the same since 2.10: ncclUniqueId, ncclFloat32, ncclFloat64, ncclAvg.
struct UniqueId {
  char bytes[128];
};
constexpr int kFloat32 = 7, kFloat64 = 8, kAverage = 4, kSuccess = 0, kLeastVersion = 21000;

struct Library {
  int (*get_version)(int*) = nullptr;
  int (*get_unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(void**, int ranks, UniqueId, int rank) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int type, int operation, void* communicator,
                    cudaStream_t) = nullptr;
  int (*end_now)(void*) = nullptr;
  int (*destroy)(void*) = nullptr;
  const char* (*error_string)(int) = nullptr;
};

template <typename Function>
void look_up(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (function == nullptr) {
    throw Error(ExitCode::kMachine, fmt::format("the NCCL library has no {}", name), "libnccl.so.2",
                "use the one that comes with PyTorch");
  }
}

Library open_library() {
  // LibTorch has loaded its own already; this finds it by its name.
  void* handle = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    throw Error(ExitCode::kMachine, fmt::format("NCCL is missing: {}", ::dlerror()), "libnccl.so.2",
                "install nvidia-nccl beside PyTorch's library, or train on one GPU");
  }
  Library library;
  look_up(handle, "ncclGetVersion", library.get_version);
  look_up(handle, "ncclGetUniqueId", library.get_unique_id);
  look_up(handle, "ncclCommInitRank", library.init_rank);
  look_up(handle, "ncclAllReduce", library.all_reduce);
  look_up(handle, "ncclCommAbort", library.end_now);
  look_up(handle, "ncclCommDestroy", library.destroy);
  look_up(handle, "ncclGetErrorString", library.error_string);
  int version = 0;
  library.get_version(&version);
  if (version < kLeastVersion) {
    throw Error(ExitCode::kMachine, fmt::format("NCCL {} is too old", version), "libnccl.so.2",
                "2.10 or newer is needed");
  }
  return library;
}

void require_cuda(cudaError_t result) {
  if (result == cudaSuccess) return;
  throw Error(ExitCode::kFailed, fmt::format("CUDA: {}", ::cudaGetErrorString(result)));
}

class NcclMean : public tensor::RankMean {
 public:
  NcclMean(ranks::Group& group, c10::Device device)
      : group_(group),
        library_(open_library()),
        device_(device),
        side_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device.index())) {
    const c10::cuda::CUDAGuard guard(device_);
    UniqueId id{};
    if (group.is_first()) require(library_.get_unique_id(&id));
    const std::string bytes = group.broadcast({id.bytes, sizeof(id.bytes)});
    MASKFIT_CHECK(bytes.size() == sizeof(id.bytes), "{} bytes", bytes.size());
    std::memcpy(id.bytes, bytes.data(), sizeof(id.bytes));
    require(library_.init_rank(&communicator_, group.size(), id, group.rank()));
    require_cuda(::cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    group.on_failure([this] { give_up(); });
  }

  ~NcclMean() override {
    group_.on_failure({});
    if (event_ != nullptr) ::cudaEventDestroy(event_);
    if (void* const communicator = communicator_; communicator != nullptr && !aborted_) {
      ::cudaStreamSynchronize(side_.stream());
      library_.destroy(communicator);
    }
  }

  int ranks() const override { return group_.size(); }

  void mean(const at::Tensor& values) override { all_reduce(values, current()); }

  void begin(const at::Tensor& values) override {
    order(current(), side_.stream());
    all_reduce(values, side_.stream());
    begun_ = true;
  }

  void finish() override {
    if (begun_) order(side_.stream(), current());
    begun_ = false;
  }

 private:
  cudaStream_t current() const { return c10::cuda::getCurrentCUDAStream(device_.index()).stream(); }

  // What is queued on `later` from here on waits for what is on `earlier`.
  void order(cudaStream_t earlier, cudaStream_t later) {
    const c10::cuda::CUDAGuard guard(device_);
    require_cuda(::cudaEventRecord(event_, earlier));
    require_cuda(::cudaStreamWaitEvent(later, event_, 0));
  }

  void all_reduce(const at::Tensor& values, cudaStream_t stream) {
    group_.throw_if_failed();
    const c10::cuda::CUDAGuard guard(device_);
    MASKFIT_CHECK(values.is_cuda() && values.is_contiguous(), "a mean over ranks of other memory");
    const bool wide = values.scalar_type() == at::kDouble;
    MASKFIT_CHECK(wide || values.scalar_type() == at::kFloat, "{}", c10::toString(values.scalar_type()));
    require(library_.all_reduce(values.data_ptr(), values.data_ptr(),
                                static_cast<std::size_t>(values.numel()), wide ? kFloat64 : kFloat32,
                                kAverage, communicator_, stream));
  }

  void require(int result) const {
    if (result == kSuccess) return;
    group_.throw_if_failed();
    throw Error(ExitCode::kMachine, fmt::format("NCCL: {}", library_.error_string(result)),
                fmt::format("rank {} on cuda:{}", group_.rank(), device_.index()),
                "each rank needs a GPU of its own; NCCL_DEBUG=INFO says more");
  }

  // From the group's watching thread: the kernels that wait for a rank that is gone end.
  void give_up() {
    aborted_ = true;
    library_.end_now(communicator_);
  }

  ranks::Group& group_;
  const Library library_;
  const c10::Device device_;
  const c10::cuda::CUDAStream side_;
  std::atomic<bool> aborted_{false};
  void* communicator_ = nullptr;
  cudaEvent_t event_ = nullptr;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<tensor::RankMean> make_nccl_mean(ranks::Group& group, const std::string& device) {
  c10::Device target = tensor::device_from_name(device);
  if (!target.has_index()) target.set_index(c10::cuda::current_device());
  // Multicast over NVLink needs rights that containers seldom have; a user's own choice stands.
  ::setenv("NCCL_NVLS_ENABLE", "0", /*overwrite=*/0);
  return std::make_unique<NcclMean>(group, target);
}

#else

std::unique_ptr<tensor::RankMean> make_nccl_mean(ranks::Group&, const std::string& device) {
  throw base::Error(base::ExitCode::kMachine, "built without CUDA", device, "use --device cpu");
}

#endif

}  // namespace maskfit::train
