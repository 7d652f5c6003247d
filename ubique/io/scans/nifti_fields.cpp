// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/scans/nifti_fields.h"

namespace ubique::io {

namespace {

constexpr std::string_view kEndOfLineCheck = "\r\n\032\n";  // shows a transfer in text mode
constexpr std::size_t kDescriptionBytes = 80;

/// Where each field begins, and how wide numbers are.
struct NiftiLayout {
  std::size_t bytes, whole, real, code, unit;
  std::size_t magic, datatype, bitpix, dim, pixdim, vox_offset, slope, inter, units, description;
  std::size_t qform_code, sform_code, quaternion, qoffset, srow;
};

// clang-format off
constexpr NiftiLayout kNifti1 = {
    .bytes = kNifti1HeaderBytes, .whole = 2, .real = 4, .code = 2, .unit = 1,
    .magic = 344, .datatype = 70, .bitpix = 72, .dim = 40, .pixdim = 76,
    .vox_offset = 108, .slope = 112, .inter = 116, .units = 123, .description = 148,
    .qform_code = 252, .sform_code = 254, .quaternion = 256, .qoffset = 268, .srow = 280,
};

constexpr NiftiLayout kNifti2 = {
    .bytes = kNifti2HeaderBytes, .whole = 8, .real = 8, .code = 4, .unit = 4,
    .magic = 4, .datatype = 12, .bitpix = 14, .dim = 16, .pixdim = 104,
    .vox_offset = 168, .slope = 176, .inter = 184, .units = 500, .description = 240,
    .qform_code = 344, .sform_code = 348, .quaternion = 352, .qoffset = 376, .srow = 400,
};
// clang-format on

const NiftiLayout& nifti_layout(int version) { return version == 1 ? kNifti1 : kNifti2; }

/// Numbers out of the header's bytes.
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

/// Numbers into the header's bytes.
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

/// The first dimension is their number, 1 to 7: read in the wrong order it is far from that.
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
  if (fields.version == 0) fail_foreign(start, name);
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

namespace {

using std::string_view_literals::operator""sv;

struct ScanFormat {
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
};

// Those that only somebody with scans meets; looks_like() knows the rest.
constexpr ScanFormat kScanFormats[] = {
    {128, "DICM"sv, "a DICOM slice; convert the series, for example with dcm2niix"},
    {0, "NRRD000"sv, "an NRRD volume; convert it to NIfTI"},
    {0, "ObjectType"sv, "a MetaImage header (.mha, .mhd); convert it to NIfTI"},
    {0, "CDF\x01"sv, "a MINC volume; convert it with mnc2nii"},
    {0, "BZh"sv, "a bzip2 file; unpack it first"},
};

/// Version 1, four extents, a type of 0 to 4: nothing like a magic, so all of it is asked.
bool is_mgh(std::span<const std::byte> start) {
  const auto number = [&](std::size_t place) { return load_big(start.subspan(4 * place, 4)); };
  if (start.size() < 24 || number(0) != 1 || number(5) > 4) return false;
  for (std::size_t extent = 1; extent <= 4; ++extent) {
    if (number(extent) < 1 || number(extent) > 1'000'000) return false;
  }
  return true;
}

bool is_plain_text(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c >= 0x20U || (c >= '\t' && c <= '\r');
  });
}

std::string_view scan_format(std::span<const std::byte> start, std::string_view text) {
  for (const auto& row : kScanFormats) {
    if (text.size() >= row.offset && text.substr(row.offset).starts_with(row.bytes)) {
      return row.what;
    }
  }
  if (is_mgh(start)) return "a FreeSurfer volume (.mgh, .mgz); convert it with mri_convert";
  if (text.starts_with("\x5C\x01\0\0"sv) || text.starts_with("\0\0\x01\x5C"sv)) {
    return "an Analyze 7.5 header, which does not say where left and right are; convert it to "
           "NIfTI with the program that wrote it";
  }
  return {};
}

std::string what_foreign(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  auto known = scan_format(start, text);
  if (known.empty()) known = looks_like(start);
  if (known.empty() && is_plain_text(text)) known = "a text";
  return std::string(known);
}

}  // namespace

void fail_foreign(std::span<const std::byte> start, const std::string& name) {
  check(!start.empty(), ErrorKind::Input,
        "[io.nifti] {} is empty; expected a NIfTI volume (.nii, .nii.gz, .hdr with .img).", name);
  const auto known = what_foreign(start);
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

}  // namespace ubique::io
