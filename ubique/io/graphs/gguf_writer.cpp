// SPDX-License-Identifier: Apache-2.0
// Writes GGUF: header, metadata, descriptions of the tensors, then their data, each aligned.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/graphs/gguf.h"
#include "ubique/io/graphs/gguf_blocks.h"
#include "ubique/io/graphs/gguf_format.h"

namespace ubique::io {
namespace {

static_assert(kLittleMachine, "tensor data and blocks are written without a byte swap");

void append_value(std::string& out, const std::string& text) {
  append_little(out, text.size(), 8);
  out += text;
}

template <typename T>
  requires std::is_arithmetic_v<T>
void append_value(std::string& out, T value) {
  if constexpr (std::is_same_v<T, float>) {
    append_little(out, std::bit_cast<std::uint32_t>(value), 4);
  } else if constexpr (std::is_same_v<T, double>) {
    append_little(out, std::bit_cast<std::uint64_t>(value), 8);
  } else {
    append_little(out, static_cast<std::uint64_t>(value), sizeof(T));
  }
}

template <typename T>
void append_value(std::string& out, const std::vector<T>& values) {
  append_little(out, values.size(), 8);
  for (const auto& value : values) append_value(out, static_cast<const T&>(value));
}

void append_typed(std::string& out, const GgufValue& value) {
  const auto index = value.index();
  const bool array = index >= gguf::kScalarTypes;
  if (array) append_little(out, gguf::kArray, 4);
  append_little(out, gguf::type_number(array ? index - gguf::kScalarTypes : index), 4);
  std::visit([&](const auto& alternative) { append_value(out, alternative); }, value);
}

template <typename Items, typename Name>
void check_gguf_names(const Items& items, std::size_t most, const char* what, const Name& name_of) {
  std::vector<std::string_view> names;
  for (const auto& item : items) names.emplace_back(name_of(item));
  std::sort(names.begin(), names.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    check(!names[i].empty() && names[i].size() <= most, ErrorKind::Internal,
          "[io.gguf] a {} has an impossible length; got '{}' with {} bytes, expected 1 to {}.",
          what, printable(names[i]), names[i].size(), most);
    check(i == 0 || names[i] != names[i - 1], ErrorKind::Internal,
          "[io.gguf] a {} is given twice; got '{}'.", what, printable(names[i]));
  }
}

std::uint64_t checked_gguf_size(const GgufTensorData& tensor) {
  const auto size = gguf_byte_count(tensor.type, tensor.shape);
  check(size.has_value() && tensor.shape.size() <= gguf::kMostDimensions, ErrorKind::Internal,
        "[io.gguf] tensor '{}' has a shape that {} cannot hold; got {}.", printable(tensor.name),
        to_string(tensor.type), shape_text(tensor.shape));
  check(tensor.stream || tensor.bytes.size() == *size, ErrorKind::Internal,
        "[io.gguf] tensor '{}' has the wrong size; got {} bytes, expected {} for {} {}.",
        printable(tensor.name), tensor.bytes.size(), *size, to_string(tensor.type),
        shape_text(tensor.shape));
  return *size;
}

/// Everything before the data, padded.
std::string header_text(const GgufMetadata& metadata, std::span<const GgufTensorData> tensors) {
  check_gguf_names(metadata, gguf::kMostKey, "metadata key",
                   [](const auto& entry) -> std::string_view { return entry.first; });
  check_gguf_names(tensors, gguf::kMostName, "tensor name",
                   [](const auto& tensor) -> std::string_view { return tensor.name; });
  check(find_value(metadata, gguf::kAlignmentKey) == nullptr, ErrorKind::Internal,
        "[io.gguf] the alignment is the writer's own; got it in the metadata.");
  std::string out;
  append_little(out, gguf::kMagic, 4);
  append_little(out, gguf::kVersion, 4);
  append_little(out, tensors.size(), 8);
  append_little(out, metadata.size(), 8);
  for (const auto& [key, value] : metadata) {
    append_value(out, key);
    append_typed(out, value);
  }
  std::uint64_t offset = 0;
  for (const auto& tensor : tensors) {
    append_value(out, tensor.name);
    append_little(out, tensor.shape.size(), 4);
    for (std::size_t i = tensor.shape.size(); i-- > 0;) {
      append_little(out, static_cast<std::uint64_t>(tensor.shape[i]), 8);
    }
    append_little(out, static_cast<std::uint32_t>(tensor.type), 4);
    append_little(out, offset, 8);
    offset = gguf::align(offset + checked_gguf_size(tensor), gguf::kAlignment);
  }
  out.resize(gguf::align(out.size(), gguf::kAlignment), '\0');
  return out;
}

void write_data(const GgufTensorData& tensor, const ByteSink& sink) {
  const auto size = checked_gguf_size(tensor);
  if (tensor.stream) {
    std::uint64_t written = 0;
    const auto wrong_size = [&](const std::string& got) {
      fail(ErrorKind::Internal,
           "[io.gguf] tensor '{}' streamed the wrong size; got {} bytes, expected {}.",
           printable(tensor.name), got, size);
    };
    tensor.stream([&](std::span<const std::byte> piece) {
      if (piece.size() > size - written) wrong_size("more");
      written += piece.size();
      sink(piece);
    });
    if (written != size) wrong_size(std::to_string(written));
  } else {
    sink(tensor.bytes);
  }
  const std::string padding(gguf::align(size, gguf::kAlignment) - size, '\0');
  sink(std::as_bytes(std::span(padding)));
}

}  // namespace

std::string_view to_string(GgufType type) {
  switch (type) {
    case GgufType::F32:
      return "F32";
    case GgufType::F16:
      return "F16";
    case GgufType::BF16:
      return "BF16";
    case GgufType::Q8_0:
      return "Q8_0";
    case GgufType::Q4_0:
      return "Q4_0";
  }
  fail(ErrorKind::Internal, "[io.gguf] no tensor type {}.", static_cast<std::uint32_t>(type));
}

std::optional<std::uint64_t> gguf_byte_count(GgufType type, const Shape& shape) {
  const auto count = element_count(shape);
  if (!count || std::any_of(shape.begin(), shape.end(), [](auto extent) { return extent < 0; })) {
    return std::nullopt;
  }
  const bool blocks = type == GgufType::Q8_0 || type == GgufType::Q4_0;
  if (blocks && (shape.empty() || shape.back() % kGgufBlockValues != 0)) return std::nullopt;
  const std::uint64_t unit = type == GgufType::F32    ? 4
                             : type == GgufType::Q8_0 ? sizeof(Q8Block)
                             : type == GgufType::Q4_0 ? sizeof(Q4Block)
                                                      : 2;
  const auto units = static_cast<std::uint64_t>(*count) / (blocks ? kGgufBlockValues : 1);
  if (units > (std::uint64_t{1} << 62U) / unit) return std::nullopt;
  return units * unit;
}

const GgufValue* find_value(const GgufMetadata& metadata, std::string_view key) {
  const auto found = std::find_if(metadata.begin(), metadata.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  return found == metadata.end() ? nullptr : &found->second;
}

void write_gguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                std::span<const GgufTensorData> tensors) {
  const auto header = header_text(metadata, tensors);
  AtomicFile file(path);
  file.write(header);
  for (const auto& tensor : tensors) {
    write_data(tensor, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  }
  file.commit();
}

std::string gguf_bytes(const GgufMetadata& metadata, std::span<const GgufTensorData> tensors) {
  auto out = header_text(metadata, tensors);
  for (const auto& tensor : tensors) {
    write_data(tensor, [&](std::span<const std::byte> bytes) {
      out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
  }
  return out;
}

}  // namespace ubique::io
