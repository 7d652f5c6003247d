// SPDX-License-Identifier: Apache-2.0
// Checks of the header: its length, each tensor's size, unique names, and tiling of the data.
#include "ubique/io/tensors/safetensors_reader.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/bulk_read.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/file_type.h"

namespace ubique::io {
namespace {

constexpr std::uint64_t kLengthBytes = 8;

std::string what_it_is(std::span<const std::byte> file) {
  // A header length of 640 begins like a pickle, so JSON after the length decides first.
  const bool json_follows = file.size() > kLengthBytes && file[kLengthBytes] == std::byte{'{'};
  const auto known = json_follows ? std::string_view() : looks_like(file);
  if (known.empty()) return "Was the download cut short, or is this another kind of file?";
  return fmt::format("This looks like {}; expected a .safetensors file.", known);
}

/// The 8-byte header length, checked against the limit and the size of the file.
std::uint64_t header_length(std::span<const std::byte> file, const std::string& name) {
  check(file.size() >= kLengthBytes, ErrorKind::Input,
        "[io.safetensors] {} is too short; got {} bytes, expected at least {}. {}", name,
        file.size(), kLengthBytes, what_it_is(file));
  const auto length = load_little(file.first(kLengthBytes));
  check(length <= kMaxSafetensorsHeader, ErrorKind::Input,
        "[io.safetensors] {} has no safetensors header; got a header length of {} bytes, expected "
        "at most {}. {}",
        name, length, kMaxSafetensorsHeader, what_it_is(file));
  check(length <= file.size() - kLengthBytes, ErrorKind::Input,
        "[io.safetensors] {}: header is longer than the file; got a header length of {} bytes, "
        "expected at most {}. {}",
        name, length, file.size() - kLengthBytes, what_it_is(file));
  return length;
}

/// Composes messages only for a fault: there can be a hundred thousand good tensors.
void check_tensor(const TensorInfo& tensor, std::uint64_t data_size, const std::string& file) {
  const auto expected = byte_count(tensor.dtype, tensor.shape);
  const bool good = expected && tensor.begin <= tensor.end && tensor.end <= data_size &&
                    tensor.size() == static_cast<std::uint64_t>(*expected);
  if (good) return;
  const auto name = printable(tensor.name);
  check(expected.has_value(), ErrorKind::Input,
        "[io.safetensors] {}: tensor '{}' is too large; got {} {}, expected fewer than 2^63 bytes.",
        file, name, to_string(tensor.dtype), shape_text(tensor.shape));
  check(tensor.begin <= tensor.end, ErrorKind::Input,
        "[io.safetensors] {}: tensor '{}' ends before it begins; got data_offsets [{}, {}].", file,
        name, tensor.begin, tensor.end);
  check(tensor.end <= data_size, ErrorKind::Input,
        "[io.safetensors] {}: tensor '{}' reaches past the end of the file; got data_offsets "
        "[{}, {}], expected at most {}. Was the download cut short?",
        file, name, tensor.begin, tensor.end, data_size);
  check(
      tensor.size() == static_cast<std::uint64_t>(*expected), ErrorKind::Input,
      "[io.safetensors] {}: tensor '{}' has the wrong size; got {} bytes (data_offsets [{}, {}]), "
      "expected {} for {} {}.",
      file, name, tensor.size(), tensor.begin, tensor.end, *expected, to_string(tensor.dtype),
      shape_text(tensor.shape));
}

void check_names(const SafetensorsHeader& header, const std::string& file) {
  const auto& order = header.by_name;
  const auto twice = std::adjacent_find(order.begin(), order.end(), [&](auto a, auto b) {
    return header.tensors[a].name == header.tensors[b].name;
  });
  check(twice == order.end(), ErrorKind::Input,
        "[io.safetensors] {}: two tensors have the name '{}'; expected each name once.", file,
        twice == order.end() ? "" : printable(header.tensors[*twice].name));
}

/// Each tensor must begin where the one before it ends, the first at 0, the last at the end.
void check_tiling(const std::vector<TensorInfo>& tensors, std::uint64_t data_size,
                  const std::string& file) {
  std::uint64_t end = 0;
  const TensorInfo* before = nullptr;
  for (const auto& tensor : tensors) {
    if (tensor.begin != end) {
      fail(ErrorKind::Input,
           "[io.safetensors] {}: tensor '{}' {}; got a begin of {}, expected {}, where {} ends. "
           "The file was written wrongly or changed.",
           file, printable(tensor.name),
           tensor.begin < end ? "overlaps another" : "comes after a hole", tensor.begin, end,
           before == nullptr ? "the header" : fmt::format("'{}'", printable(before->name)));
    }
    end = tensor.end;
    before = &tensor;
  }
  check(end == data_size, ErrorKind::Input,
        "[io.safetensors] {}: {} bytes at the end belong to no tensor; got {} bytes of data, "
        "expected {}. The file was written wrongly or something was appended.",
        file, data_size - end, data_size, end);
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file,
                                           const std::string& name) {
  const auto length = header_length(file, name);
  const auto text = file.subspan(kLengthBytes, length);
  auto json = parse_safetensors_json({reinterpret_cast<const char*>(text.data()), length}, name);

  SafetensorsHeader header;
  header.tensors = std::move(json.tensors);
  header.metadata = std::move(json.metadata);
  header.data_begin = kLengthBytes + length;
  const auto data_size = file.size() - header.data_begin;
  for (const auto& tensor : header.tensors) check_tensor(tensor, data_size, name);
  // Stable: empty tensors at the same offset keep the header's order.
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  header.by_name = order_by_name(header.tensors);
  check_names(header, name);
  check_tiling(header.tensors, data_size, name);
  return header;
}

std::string safetensors_header_text(const SafetensorsJson& json) {
  auto text = safetensors_json_text(json);
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  check(text.size() <= kMaxSafetensorsHeader, ErrorKind::Internal,
        "[io.safetensors] the header is too long; got {} bytes, expected at most {}.", text.size(),
        kMaxSafetensorsHeader);
  std::string header;
  append_little(header, text.size(), kLengthBytes);
  return header + text;
}

SafetensorsFile::SafetensorsFile(std::span<const std::byte> file, std::string name)
    : file_(file), name_(std::move(name)), header_(parse_safetensors_header(file_, name_)) {}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : map_(path),
      file_(map_->bytes()),
      name_(path.string()),
      header_(parse_safetensors_header(file_, name_)) {}

SafetensorsFile SafetensorsFile::from_memory(std::span<const std::byte> file, std::string name) {
  return {file, std::move(name)};
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto index = find_by_name(header_.tensors, header_.by_name, name);
  return index ? &header_.tensors[*index] : nullptr;
}

std::span<const std::byte> SafetensorsFile::bytes(const TensorInfo& tensor) const {
  const auto data = file_.subspan(header_.data_begin);
  check(tensor.begin <= tensor.end && tensor.end <= data.size(), ErrorKind::Internal,
        "[io.safetensors] tensor '{}' is not of {}.", printable(tensor.name), name_);
  return data.subspan(tensor.begin, tensor.size());
}

void SafetensorsFile::read(const TensorInfo& tensor, std::span<std::byte> out) const {
  check(out.size() == tensor.size(), ErrorKind::Internal,
        "[io.safetensors] tensor '{}' does not fit its destination; got room for {} bytes, "
        "expected {}.",
        printable(tensor.name), out.size(), tensor.size());
  read_part(tensor, 0, out);
}

void SafetensorsFile::read_part(const TensorInfo& tensor, std::uint64_t offset,
                                std::span<std::byte> out) const {
  const auto all = bytes(tensor);
  check(offset <= all.size() && out.size() <= all.size() - offset, ErrorKind::Internal,
        "[io.safetensors] tensor '{}' has no {} bytes at {}; it has {}.", printable(tensor.name),
        out.size(), offset, all.size());
  if (map_ && map_->descriptor() >= 0) {
    bulk_read(*map_, header_.data_begin + tensor.begin + offset, out);
  } else {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }
}

}  // namespace ubique::io
