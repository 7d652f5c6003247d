// SPDX-License-Identifier: Apache-2.0
// The layouts of both versions, one list of the fields for reading and writing, and the refusal of
// files that are not NIfTI.
#include "ubique/io/scans/nifti_fields.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/file_type.h"

namespace ubique::io {

namespace {

constexpr std::string_view kEndOfLineCheck = "\r\n\032\n";  // altered by a transfer in text mode
constexpr std::size_t kDescriptionBytes = 80, kIntentBytes = 16;

/// Offset of each field, and the width of numbers.
struct NiftiLayout {
  std::size_t bytes, whole, real, code, unit;
  std::size_t magic, datatype, bitpix, dim, pixdim, vox_offset, slope, inter, units, description;
  std::size_t qform_code, sform_code, quaternion, qoffset, srow, intent_name;
};

// clang-format off
constexpr NiftiLayout kNifti1 = {
    .bytes = kNifti1HeaderBytes, .whole = 2, .real = 4, .code = 2, .unit = 1,
    .magic = 344, .datatype = 70, .bitpix = 72, .dim = 40, .pixdim = 76,
    .vox_offset = 108, .slope = 112, .inter = 116, .units = 123, .description = 148,
    .qform_code = 252, .sform_code = 254, .quaternion = 256, .qoffset = 268, .srow = 280,
    .intent_name = 328,
};

constexpr NiftiLayout kNifti2 = {
    .bytes = kNifti2HeaderBytes, .whole = 8, .real = 8, .code = 4, .unit = 4,
    .magic = 4, .datatype = 12, .bitpix = 14, .dim = 16, .pixdim = 104,
    .vox_offset = 168, .slope = 176, .inter = 184, .units = 500, .description = 240,
    .qform_code = 344, .sform_code = 348, .quaternion = 352, .qoffset = 376, .srow = 400,
    .intent_name = 508,
};
// clang-format on

const NiftiLayout& nifti_layout(int version) { return version == 1 ? kNifti1 : kNifti2; }

/// Reads numbers from the header's bytes.
class NiftiFieldReader {
 public:
  NiftiFieldReader(std::span<const std::byte> bytes, bool swapped)
      : bytes_(bytes), swapped_(swapped) {}

  void whole(std::size_t offset, std::size_t width, std::int64_t& value) const {
    const auto unused = 64 - 8 * width;
    value = static_cast<std::int64_t>(pattern(offset, width) << unused) >> unused;
  }
  void real(std::size_t offset, std::size_t width, double& value) const {
    const auto bits = pattern(offset, width);
    value = width == 8 ? std::bit_cast<double>(bits)
                       : double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))};
  }
  void text(std::size_t offset, std::size_t width, std::string& value) const {
    value.assign(reinterpret_cast<const char*>(bytes_.data()) + offset, width);
    value.resize(std::min(value.find('\0'), value.size()));
  }

 private:
  std::uint64_t pattern(std::size_t offset, std::size_t width) const {
    const bool big = kLittleMachine == swapped_;
    const auto bytes = bytes_.subspan(offset, width);
    return big ? load_big(bytes) : load_little(bytes);
  }
  std::span<const std::byte> bytes_;
  bool swapped_;
};

/// Writes numbers to the header's bytes.
class NiftiFieldWriter {
 public:
  explicit NiftiFieldWriter(std::size_t bytes) : bytes_(bytes, '\0') {}

  void whole(std::size_t offset, std::size_t width, std::int64_t value) {
    put(offset, width, static_cast<std::uint64_t>(value));
  }
  void real(std::size_t offset, std::size_t width, double value) {
    put(offset, width,
        width == 8 ? std::bit_cast<std::uint64_t>(value)
                   : std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }
  void text(std::size_t offset, std::size_t width, std::string_view value) {
    bytes_.replace(offset, std::min(value.size(), width), value.substr(0, width));
  }
  std::string take() { return std::move(bytes_); }

 private:
  void put(std::size_t offset, std::size_t width, std::uint64_t bits) {
    for (std::size_t i = 0; i < width; ++i) {
      bytes_[offset + i] =
          static_cast<char>(bits >> 8 * (kLittleMachine ? i : width - 1 - i) & 0xFFU);
    }
  }
  std::string bytes_;
};

/// One list of the fields for both directions.
template <typename Numbers, typename Fields>
void each_nifti_field(Numbers&& numbers, const NiftiLayout& at, Fields& fields) {
  const auto real_list = [&](std::size_t offset, auto& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      numbers.real(offset + i * at.real, at.real, list[i]);
    }
  };
  for (std::size_t i = 0; i < fields.dim.size(); ++i) {
    numbers.whole(at.dim + i * at.whole, at.whole, fields.dim[i]);
  }
  numbers.whole(at.datatype, 2, fields.datatype);
  numbers.whole(at.bitpix, 2, fields.bitpix);
  real_list(at.pixdim, fields.pixdim);
  numbers.real(at.slope, at.real, fields.slope);
  numbers.real(at.inter, at.real, fields.inter);
  numbers.whole(at.units, at.unit, fields.units);
  numbers.text(at.description, kDescriptionBytes, fields.description);
  numbers.text(at.intent_name, kIntentBytes, fields.intent_name);
  numbers.whole(at.qform_code, at.code, fields.qform_code);
  numbers.whole(at.sform_code, at.code, fields.sform_code);
  real_list(at.quaternion, fields.quaternion);
  real_list(at.qoffset, fields.qoffset);
  for (std::size_t row = 0; row < 3; ++row) {
    real_list(at.srow + row * 4 * at.real, fields.srow[row]);
  }
}

std::string_view nifti_text(std::span<const std::byte> bytes, std::size_t offset,
                            std::size_t size) {
  if (bytes.size() < offset + size) return {};
  return {reinterpret_cast<const char*>(bytes.data()) + offset, size};
}

bool is_plain_text(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c >= 0x20U || (c >= '\t' && c <= '\r');
  });
}

/// A NIfTI-1 header, whose magic is at its end, was cut before that: what is left begins with its
/// length.
void check_nifti1_complete(std::span<const std::byte> start, const std::string& name) {
  const bool has_length = start.size() >= 4 && (load_little(start.first(4)) == kNifti1HeaderBytes ||
                                                load_big(start.first(4)) == kNifti1HeaderBytes);
  check(!has_length || start.size() >= kNifti1HeaderBytes, ErrorKind::Input,
        "[io.nifti] {} is cut short within its header; got {} bytes, expected at least {}. Was the "
        "download or the copy interrupted?",
        name, start.size(), kNifti1HeaderBytes);
}

/// Names the format, where its signature shows it, and what to do.
[[noreturn]] void refuse_non_nifti(std::span<const std::byte> start, const std::string& name) {
  check(!start.empty(), ErrorKind::Input,
        "[io.nifti] {} is empty; expected a NIfTI volume (.nii, .nii.gz, .hdr with .img).", name);
  check_nifti1_complete(start, name);
  auto known = looks_like(start);
  if (known.empty() && is_plain_text(nifti_text(start, 0, start.size()))) known = "a text";
  check(known.empty(), ErrorKind::Input, "[io.nifti] {} is not a NIfTI volume; it looks like {}.",
        name, known);
  check(start.size() >= kNifti1HeaderBytes, ErrorKind::Input,
        "[io.nifti] {} is too short for a NIfTI header; got {} bytes, expected at least {}.", name,
        start.size(), kNifti1HeaderBytes);
  fail(ErrorKind::Input,
       "[io.nifti] {} is not a NIfTI volume; got none of its magics (n+1, ni1, n+2, ni2). Is this "
       "another kind of file, or is its header damaged?",
       name);
}

/// dim[0] is the number of dimensions, 1 to 7: any other value means the other byte order.
bool nifti_swapped(std::span<const std::byte> start, const NiftiLayout& at,
                   const std::string& name) {
  std::int64_t native = 0, swapped = 0;
  NiftiFieldReader(start, false).whole(at.dim, at.whole, native);
  NiftiFieldReader(start, true).whole(at.dim, at.whole, swapped);
  const auto sensible = [](std::int64_t count) { return count >= 1 && count <= 7; };
  check(sensible(native) || sensible(swapped), ErrorKind::Input,
        "[io.nifti] {}: the header is damaged; got {} dimensions, expected 1 to 7.", name, native);
  return !sensible(native);
}

void check_nifti_line_ends(std::span<const std::byte> start, const std::string& name) {
  const auto found = nifti_text(start, kNifti2.magic + 4, kEndOfLineCheck.size());
  check(found == kEndOfLineCheck || found == std::string_view("\0\0\0\0", 4), ErrorKind::Input,
        "[io.nifti] {} is damaged; the bytes that guard against a transfer in text mode have "
        "changed. Copy it again in binary mode.",
        name);
}

}  // namespace

int nifti_version(std::span<const std::byte> start) {
  using std::string_view_literals::operator""sv;
  const auto first = nifti_text(start, kNifti1.magic, 4),
             second = nifti_text(start, kNifti2.magic, 4);
  if (second == "n+2\0"sv || second == "ni2\0"sv) return 2;
  return first == "n+1\0"sv || first == "ni1\0"sv ? 1 : 0;
}

NiftiFields parse_nifti_fields(std::span<const std::byte> start, const std::string& name) {
  NiftiFields fields;
  fields.version = nifti_version(start);
  if (fields.version == 0) refuse_non_nifti(start, name);
  const auto& at = nifti_layout(fields.version);
  check(start.size() >= at.bytes, ErrorKind::Input,
        "[io.nifti] {} is cut short within its header; got {} bytes, expected at least {}.", name,
        start.size(), at.bytes);
  if (fields.version == 2) check_nifti_line_ends(start, name);
  fields.paired = nifti_text(start, at.magic + 1, 1) == "i";
  fields.swapped = nifti_swapped(start, at, name);
  const NiftiFieldReader reader(start, fields.swapped);
  each_nifti_field(reader, at, fields);
  if (fields.version == 1) {
    reader.real(at.vox_offset, at.real, fields.vox_offset);
  } else {
    std::int64_t offset = 0;
    reader.whole(at.vox_offset, at.whole, offset);
    fields.vox_offset = static_cast<double>(offset);
  }
  return fields;
}

std::string nifti_header_bytes(const NiftiFields& fields) {
  const auto& at = nifti_layout(fields.version);
  NiftiFieldWriter writer(nifti_start_bytes(fields.version));
  writer.whole(0, 4, static_cast<std::int64_t>(at.bytes));
  each_nifti_field(writer, at, fields);
  const auto magic = fmt::format("n{}{}", fields.paired ? 'i' : '+', fields.version);
  writer.text(at.magic, 4, magic);
  if (fields.version == 1) {
    writer.real(at.vox_offset, at.real, fields.vox_offset);
  } else {
    writer.text(at.magic + 4, kEndOfLineCheck.size(), kEndOfLineCheck);
    writer.whole(at.vox_offset, at.whole, static_cast<std::int64_t>(fields.vox_offset));
  }
  return writer.take();
}

}  // namespace ubique::io
