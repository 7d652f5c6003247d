// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/nifti_foreign.h"

#include <algorithm>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/io/byte_order.h"
#include "ubique/io/magic.h"
#include "ubique/io/nifti_fields.h"

namespace ubique::io {
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
