// SPDX-License-Identifier: Apache-2.0
// Writes and reads one cached scan; converts f32 to and from f16 and u8.
#include "ubique/data/scans/study/scan_cache_entry.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/data/scans/study/scan_cache.h"
#include "ubique/io/tensors/safetensors_writer.h"

namespace ubique::data {
namespace {

constexpr const char* kEntryFormat = "ubique-scan-cache";
constexpr float kLargestHalf = 65504;

/// f32 to f16 bits, nearest, ties to even; |value| <= kLargestHalf.
std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const float magnitude = std::fabs(value);
  if (magnitude < 0x1p-14F) {  // subnormal
    return sign | static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24F));
  }
  const auto rest = std::bit_cast<std::uint32_t>(magnitude) - (112U << 23U);  // rebias the exponent
  return sign | static_cast<std::uint16_t>((rest + 0xFFFU + (rest >> 13U & 1U)) >> 13U);
}

float half_value(std::uint16_t bits) {  // finite values only, so that loops vectorise
  const auto magnitude =
      std::bit_cast<float>((static_cast<std::uint32_t>(bits) & 0x7FFFU) << 13U) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) |
                              (static_cast<std::uint32_t>(bits) & 0x8000U) << 16U);
}

std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t sum = 0) {
  return static_cast<std::uint32_t>(
      ::crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <typename T>
std::span<const std::byte> bytes_in(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

/// 17 digits keep every bit of a double.
std::string affine_text(const Affine& affine) {
  std::vector<std::string> numbers;
  for (const auto& row : affine) {
    for (const double value : row) numbers.push_back(fmt::format("{:.17g}", value));
  }
  return join(numbers, " ");
}

double number_in(const io::Metadata& metadata, const char* key, const std::string& name) {
  const auto found = metadata.find(key);
  const auto value = found == metadata.end() ? std::nullopt : parse_number(found->second);
  check(value.has_value(), ErrorKind::Input, "[data.cache] {}: {} is no number.", name, key);
  return *value;
}

std::string text_in(const io::Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string() : found->second;
}

Affine parse_affine(const std::string& text, const std::string& name) {
  const auto parts = split(text, ' ');
  check(parts.size() == 16, ErrorKind::Input,
        "[data.cache] {}: the affine has {} numbers, expected 16.", name, parts.size());
  Affine affine{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = parse_number(parts[i]);
    check(value.has_value(), ErrorKind::Input, "[data.cache] {}: the affine is damaged.", name);
    affine[i / 4][i % 4] = *value;
  }
  return affine;
}

/// The image's values as they are stored.
struct StoredImage {
  DType dtype;
  std::vector<std::byte> bytes;
  float low, high;
};

template <typename T, typename Convert>
std::vector<std::byte> converted(const std::vector<float>& values, const Convert& convert) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T stored = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &stored, sizeof(T));
  }
  return bytes;
}

StoredImage stored(const std::vector<float>& values, DType dtype) {
  const auto [least, largest] = std::ranges::minmax_element(values);
  const float low = values.empty() ? 0 : *least, high = values.empty() ? 0 : *largest;
  if (dtype == DType::F16 && std::max(std::fabs(low), std::fabs(high)) > kLargestHalf) {
    dtype = DType::F32;
  }
  StoredImage image{dtype, {}, low, high};
  if (dtype == DType::F16) {
    image.bytes = converted<std::uint16_t>(values, half_bits);
  } else if (dtype == DType::U8) {
    const float scale = high > low ? 255 / (high - low) : 0;
    image.bytes = converted<std::uint8_t>(values, [&](float value) {
      return static_cast<std::uint8_t>(std::nearbyint((value - low) * scale));
    });
  } else {
    image.bytes = converted<float>(values, [](float value) { return value; });
  }
  return image;
}

io::Shape shape_list(const Shape3& shape) { return {shape[0], shape[1], shape[2]}; }

}  // namespace

void write_cache_entry(const std::filesystem::path& path, const std::string& key,
                       const Volume& image, const LabelMap* mask, DType dtype) {
  const auto kept = stored(image.values, dtype);
  auto sum = checksum(kept.bytes);
  std::vector<io::TensorData> tensors = {
      {"image", kept.dtype, shape_list(image.shape), kept.bytes}};
  if (mask != nullptr) {
    check(mask->shape == image.shape, ErrorKind::Internal,
          "[data.cache] mask and image have different shapes.");
    tensors.push_back({"mask", DType::U8, shape_list(mask->shape), bytes_in(mask->values)});
    sum = checksum(bytes_in(mask->values), sum);
  }
  io::write_safetensors(path, tensors,
                        {{"format", kEntryFormat},
                         {"version", std::to_string(kScanCacheVersion)},
                         {"key", key},
                         {"affine", affine_text(image.affine)},
                         {"low", fmt::format("{:.9g}", kept.low)},
                         {"high", fmt::format("{:.9g}", kept.high)},
                         {"crc32", fmt::format("{:08x}", sum)}});
}

CachedScan::CachedScan(const std::filesystem::path& path, const std::string& key) : file_(path) {
  const auto& metadata = file_.metadata();
  const auto& name = file_.name();
  check(text_in(metadata, "format") == kEntryFormat &&
            text_in(metadata, "version") == std::to_string(kScanCacheVersion),
        ErrorKind::Input, "[data.cache] {} is no cached scan of this version.", name);
  check(text_in(metadata, "key") == key, ErrorKind::Input,
        "[data.cache] {} was made from another scan or in another way.", name);
  image_ = file_.find("image");
  mask_ = file_.find("mask");
  const bool kept =
      image_ != nullptr && image_->shape.size() == 3 &&
      (image_->dtype == DType::F16 || image_->dtype == DType::U8 || image_->dtype == DType::F32);
  check(kept, ErrorKind::Input, "[data.cache] {} has no image of three axes.", name);
  check(mask_ == nullptr || (mask_->dtype == DType::U8 && mask_->shape == image_->shape),
        ErrorKind::Input, "[data.cache] {}: the mask does not fit the image.", name);
  std::ranges::copy(image_->shape, shape_.begin());
  affine_ = parse_affine(text_in(metadata, "affine"), name);
  low_ = number_in(metadata, "low", name);
  high_ = number_in(metadata, "high", name);
}

DType CachedScan::dtype() const { return image_->dtype; }

void CachedScan::read_image(std::span<float> out) const {
  check(static_cast<std::int64_t>(out.size()) == voxel_count(shape_), ErrorKind::Internal,
        "[data.cache] got a buffer of {} values for {} voxels.", out.size(), voxel_count(shape_));
  if (image_->dtype == DType::F32) return file_.read(*image_, std::as_writable_bytes(out));
  if (image_->dtype == DType::U8) {
    std::vector<std::uint8_t> levels(out.size());
    file_.read(*image_, std::as_writable_bytes(std::span(levels)));
    const auto low = static_cast<float>(low_), step = static_cast<float>((high_ - low_) / 255);
    std::ranges::transform(levels, out.begin(), [&](std::uint8_t level) {
      return low + step * static_cast<float>(level);
    });
    return;
  }
  std::vector<std::uint16_t> halves(out.size());
  file_.read(*image_, std::as_writable_bytes(std::span(halves)));
  std::ranges::transform(halves, out.begin(), half_value);
}

void CachedScan::read_mask(std::span<std::uint8_t> out) const {
  check(mask_ != nullptr, ErrorKind::Internal, "[data.cache] {} has no mask.", file_.name());
  check(static_cast<std::int64_t>(out.size()) == voxel_count(shape_), ErrorKind::Internal,
        "[data.cache] got a buffer of {} values for {} voxels.", out.size(), voxel_count(shape_));
  file_.read(*mask_, std::as_writable_bytes(out));
}

Volume CachedScan::image() const {
  Volume volume{shape_, affine_, std::vector<float>(static_cast<std::size_t>(voxel_count(shape_)))};
  read_image(volume.values);
  return volume;
}

LabelMap CachedScan::mask() const {
  LabelMap labels{shape_, affine_,
                  std::vector<std::uint8_t>(static_cast<std::size_t>(voxel_count(shape_)))};
  read_mask(labels.values);
  return labels;
}

void CachedScan::verify() const {
  auto sum = checksum(file_.bytes(*image_));
  if (mask_ != nullptr) sum = checksum(file_.bytes(*mask_), sum);
  check(text_in(file_.metadata(), "crc32") == fmt::format("{:08x}", sum), ErrorKind::Input,
        "[data.cache] {} is damaged: its bytes are not those that were written.", file_.name());
}

}  // namespace ubique::data
