#include "formats/tensorfile.h"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <functional>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace maskfit::formats {
namespace {

using base::Error;
using base::ExitCode;

constexpr const char* kKey = "_tensorfile_array_key_";

std::string group_name(std::int64_t index) {
  return fmt::format("{}_{}", kKey, index);
}

// An HDF5 identifier with the function that closes its kind.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  hid_t get() const { return id_; }
  bool good() const { return id_ >= 0; }
  // False when closing failed: what was cached could not be written.
  bool reset() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

// HDF5 prints its error stack to stderr unless told not to; every failure here becomes an Error instead.
void silence_hdf5() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::int64_t elements_of(const BatchShape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::array<hsize_t, 4> dimensions(const BatchShape& shape) {
  return {static_cast<hsize_t>(shape[0]), static_cast<hsize_t>(shape[1]), static_cast<hsize_t>(shape[2]),
          static_cast<hsize_t>(shape[3])};
}

bool write_integers(hid_t file, const char* name, std::span<const std::int64_t> values) {
  const hsize_t size = values.size();
  const Handle space(values.size() == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr),
                     H5Sclose);
  const Handle attribute(H5Acreate2(file, name, H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  return attribute.good() && H5Awrite(attribute.get(), H5T_NATIVE_INT64, values.data()) >= 0;
}

// Empty when the attribute is missing or does not have `count` elements.
std::vector<std::int64_t> read_integers(hid_t file, const char* name, std::size_t count) {
  const Handle attribute(H5Aopen(file, name, H5P_DEFAULT), H5Aclose);
  if (!attribute.good()) return {};
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  std::vector<std::int64_t> values(count);
  if (H5Tget_class(type.get()) != H5T_INTEGER ||
      H5Sget_simple_extent_npoints(space.get()) != static_cast<hssize_t>(count) ||
      H5Aread(attribute.get(), H5T_NATIVE_INT64, values.data()) < 0) {
    return {};
  }
  return values;
}

}  // namespace

struct TensorfileWriter::Impl {
  std::filesystem::path path, temporary;
  BatchShape shape;
  Handle file;
  std::int64_t count = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::kFailed, what, path.string(),
                "check the disk's free space and the folder's permissions");
  }
};

TensorfileWriter::TensorfileWriter(std::filesystem::path path, BatchShape shape, base::Overwrite overwrite)
    : impl_(std::make_unique<Impl>()) {
  silence_hdf5();
  MASKFIT_CHECK(elements_of(shape) > 0, "shape={}x{}x{}x{}", shape[0], shape[1], shape[2], shape[3]);
  if (overwrite == base::Overwrite::kRefuse && std::filesystem::exists(path)) {
    throw Error(ExitCode::kFailed, "the file exists", path.string(),
                "give another name, or --force to replace it");
  }
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  impl_->path = std::move(path);
  impl_->temporary = impl_->path;
  impl_->temporary += fmt::format(".tmp{}", ::getpid());
  impl_->shape = shape;
  impl_->file =
      Handle(H5Fcreate(impl_->temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  if (!impl_->file.good()) impl_->fail("the calibration data cannot be written");
}

TensorfileWriter::~TensorfileWriter() {
  if (!impl_->file.good()) return;
  impl_->file.reset();
  std::error_code ignored;
  std::filesystem::remove(impl_->temporary, ignored);
}

void TensorfileWriter::add(std::span<const float> batch) {
  MASKFIT_CHECK(static_cast<std::int64_t>(batch.size()) == elements_of(impl_->shape), "{} values a batch",
                batch.size());
  const std::array<hsize_t, 4> sides = dimensions(impl_->shape);
  // One picture a chunk: a reader that wants the first few pictures unpacks no more than those.
  const std::array<hsize_t, 4> chunk = {1, sides[1], sides[2], sides[3]};
  const Handle group(
      H5Gcreate2(impl_->file.get(), group_name(impl_->count).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Gclose);
  const Handle space(H5Screate_simple(4, sides.data(), nullptr), H5Sclose);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(layout.get(), 4, chunk.data());
  H5Pset_deflate(layout.get(), 4);
  const Handle data(
      H5Dcreate2(group.get(), kKey, H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT),
      H5Dclose);
  if (!data.good() ||
      H5Dwrite(data.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, batch.data()) < 0) {
    impl_->fail(fmt::format("batch {} of the calibration data cannot be written", impl_->count));
  }
  ++impl_->count;
}

void TensorfileWriter::close() {
  const std::int64_t count = impl_->count;
  bool good = write_integers(impl_->file.get(), "count", {&count, 1}) &&
              write_integers(impl_->file.get(), "shape", impl_->shape);
  good = impl_->file.reset() && good;
  const int descriptor = ::open(impl_->temporary.c_str(), O_RDONLY | O_CLOEXEC);
  good = good && descriptor >= 0 && ::fsync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  std::error_code error;
  if (good) std::filesystem::rename(impl_->temporary, impl_->path, error);
  if (!good || error) {
    std::error_code ignored;
    std::filesystem::remove(impl_->temporary, ignored);
    impl_->fail("the calibration data cannot be finished");
  }
}

struct TensorfileReader::Impl {
  std::filesystem::path path;
  Handle file;
  std::int64_t count = 0;
  BatchShape shape{};

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ExitCode::kRefused, what, path.string(),
                "write the file again with maskfit export --calibration-data");
  }
};

TensorfileReader::TensorfileReader(std::filesystem::path path) : impl_(std::make_unique<Impl>()) {
  silence_hdf5();
  impl_->path = std::move(path);
  if (!std::filesystem::exists(impl_->path)) base::read_file(impl_->path);  // says what is missing
  impl_->file = Handle(H5Fopen(impl_->path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!impl_->file.good()) impl_->refuse("no HDF5 file, or a torn one");
  const auto count = read_integers(impl_->file.get(), "count", 1);
  const auto shape = read_integers(impl_->file.get(), "shape", 4);
  if (count.empty() || shape.empty())
    impl_->refuse("an HDF5 file, but no calibration data: it lacks count or shape");
  impl_->count = count[0];
  for (std::size_t i = 0; i < 4; ++i) {
    impl_->shape[i] = shape[i];
    if (shape[i] <= 0 || shape[i] > 1 << 20)
      impl_->refuse(fmt::format("the batch has a side of {}", shape[i]));
  }
  if (impl_->count < 0) impl_->refuse(fmt::format("{} batches", impl_->count));
  // Links one by one: a count that was edited must not make us believe in batches that are not there.
  if (impl_->count > 0 &&
      H5Lexists(impl_->file.get(), group_name(impl_->count - 1).c_str(), H5P_DEFAULT) <= 0) {
    impl_->refuse(fmt::format("the file promises {} batches and lacks the last one", impl_->count));
  }
}

TensorfileReader::~TensorfileReader() = default;

std::int64_t TensorfileReader::count() const {
  return impl_->count;
}

const BatchShape& TensorfileReader::shape() const {
  return impl_->shape;
}

std::vector<float> TensorfileReader::batch(std::int64_t index) const {
  if (index < 0 || index >= impl_->count) {
    throw Error(ExitCode::kRefused,
                fmt::format("batch {} is wanted, the file has {} batches", index + 1, impl_->count),
                impl_->path.string(), "ask for fewer batches, or write a longer file");
  }
  const Handle data(H5Dopen2(impl_->file.get(), (group_name(index) + "/" + kKey).c_str(), H5P_DEFAULT),
                    H5Dclose);
  if (!data.good()) impl_->refuse(fmt::format("batch {} is missing", index + 1));
  const Handle space(H5Dget_space(data.get()), H5Sclose);
  std::array<hsize_t, 4> sides{};
  if (H5Sget_simple_extent_ndims(space.get()) != 4 ||
      H5Sget_simple_extent_dims(space.get(), sides.data(), nullptr) != 4 ||
      sides != dimensions(impl_->shape)) {
    impl_->refuse(fmt::format("batch {} does not have the shape that the file gives", index + 1));
  }
  std::vector<float> values(static_cast<std::size_t>(elements_of(impl_->shape)));
  if (H5Dread(data.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    impl_->refuse(fmt::format("batch {} cannot be unpacked", index + 1));
  }
  return values;
}

}  // namespace maskfit::formats
