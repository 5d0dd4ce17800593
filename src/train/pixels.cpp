#include "train/pixels.h"

#include <ATen/ATen.h>

#include <cstring>

#include "base/parallel.h"
#include "tensor/device.h"

namespace maskfit::train {

at::Tensor canvas_bytes(const loader::PictureSet& pictures, std::int64_t first, std::int64_t count) {
  const auto [width, height] = pictures.canvas_size();
  at::Tensor bytes = at::empty({count, height, width, pictures.channels()}, at::kByte);
  const std::size_t size = static_cast<std::size_t>(pictures.channels()) * width * height;
  base::parallel_for(count, [&](std::int64_t i) {
    std::memcpy(bytes.data_ptr<std::uint8_t>() + i * size, pictures.canvas(first + i)->pixels.data(), size);
  });
  return bytes;
}

at::Tensor plain_pixels(const loader::PictureSet& pictures, std::int64_t first, std::int64_t count,
                        const std::string& device) {
  // Bytes travel to the device, a quarter of the floats; they become numbers there.
  const at::Tensor bytes = canvas_bytes(pictures, first, count).to(tensor::device_from_name(device));
  return bytes.permute({0, 3, 1, 2}).to(at::kFloat).div_(255.0).contiguous();
}

at::Tensor to_tensor(const loader::PixelBatch& pixels, const std::string& device) {
  // from_blob only borrows; the copy owns what it holds.
  const at::Tensor borrowed =
      at::from_blob(const_cast<float*>(pixels.values.data()),
                    {pixels.count, pixels.channels, pixels.height, pixels.width}, at::kFloat);
  const c10::Device target = tensor::device_from_name(device);
  return target.is_cpu() ? borrowed.clone() : borrowed.to(target);
}

}  // namespace maskfit::train
