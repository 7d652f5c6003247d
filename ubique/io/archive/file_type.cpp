// SPDX-License-Identifier: Apache-2.0
// The table of file signatures, and the formats that need more than a signature.
#include "ubique/io/archive/file_type.h"

#include <fmt/format.h>

#include "ubique/base/text/text.h"
#include "ubique/io/archive/byte_order.h"

namespace ubique::io {
namespace {

using std::string_view_literals::operator""sv;

struct FileSignature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
};

constexpr std::string_view kAnalyze =
    "an Analyze 7.5 header, which does not say where left and right are; convert it to NIfTI with "
    "the program that wrote it";

// The first match counts.
constexpr FileSignature kSignatures[] = {
    {128, "DICM"sv, "a DICOM slice; convert the series, for example with dcm2niix"},
    {0, "NRRD000"sv, "an NRRD volume; convert it to NIfTI"},
    {0, "ObjectType"sv, "a MetaImage header (.mha, .mhd); convert it to NIfTI"},
    {0, "CDF\x01"sv, "a MINC volume; convert it with mnc2nii"},
    {0, "BZh"sv, "a bzip2 file; unpack it first"},
    {0, "PK\x03\x04"sv, "a zip archive, as PyTorch's .pt and .pth, .npz and .keras files are"},
    {0, "\x80\x02"sv, "a Python pickle, as old PyTorch .pt, .pth and .bin files are"},
    {0, "\x80\x04\x95"sv, "a Python pickle"},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file, as Keras .h5 weights are"},
    {0, "\x1f\x8b"sv, "a gzip file, as .nii.gz scans are"},
    {0, "\x28\xb5\x2f\xfd"sv, "a Zstandard file"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "an xz file"},
    {0, "\x93NUMPY"sv, "a NumPy .npy array"},
    {0, "GGUF"sv, "a GGUF model"},
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG picture"},
    {0, "\xff\xd8\xff"sv, "a JPEG picture"},
    {0, "GIF8"sv, "a GIF picture"},
    {0, "II*\0"sv, "a TIFF picture"},
    {0, "MM\0*"sv, "a TIFF picture"},
    {4, "ftypavif"sv, "an AVIF picture"},
    {4, "ftyphei"sv, "a HEIC picture"},
    {4, "ftypmif1"sv, "a HEIC picture"},
    {4, "ftyp"sv, "an MP4 or QuickTime film"},
    {8, "WEBP"sv, "a WebP picture"},
    {8, "WAVE"sv, "a WAV sound"},
    {0, "RIFF"sv, "a RIFF file"},
    {0, "fLaC"sv, "a FLAC sound"},
    {0,
     "\x7f"
     "ELF"sv,
     "an ELF program or library"},
    {0, "SQLite format 3"sv, "an SQLite database"},
    {0, "version https://git-lfs"sv,
     "a Git LFS pointer: the real file was not downloaded (git lfs pull)"},
    {257, "ustar"sv, "a tar archive"},
    {344, "n+1\0"sv, "a NIfTI scan"},
    {344, "ni1\0"sv, "a NIfTI scan"},
    {4, "n+2\0"sv, "a NIfTI-2 scan"},
    {4, "ni2\0"sv, "a NIfTI-2 scan"},
    {0, "\x5C\x01\0\0"sv, kAnalyze},  // the length 348, with which NIfTI-1 begins too
    {0, "\0\0\x01\x5C"sv, kAnalyze},
};

/// FreeSurfer's volumes have no signature: version 1, four extents and a type from 0 to 4.
bool is_mgh(std::span<const std::byte> start) {
  const auto number = [&](std::size_t i) { return load_big(start.subspan(4 * i, 4)); };
  if (start.size() < 24 || number(0) != 1 || number(5) > 4) return false;
  for (std::size_t extent = 1; extent <= 4; ++extent) {
    if (number(extent) < 1 || number(extent) > 1'000'000) return false;
  }
  return true;
}

/// Two letters are a weak signature; the four reserved bytes of the header are zero.
bool is_bmp(std::string_view text) {
  return text.starts_with("BM") && text.size() > 14 && text.substr(6, 4) == "\0\0\0\0"sv;
}

bool is_web_page(std::string_view text) {
  const auto start = lowercase(trim(text.substr(0, 64)));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

}  // namespace

bool starts_like_safetensors(std::span<const std::byte> start) {
  constexpr std::size_t kLength = 8;
  if (start.size() <= kLength || start[kLength] != std::byte{'{'}) return false;
  const auto length = load_little(start.first(kLength));
  return length >= 2 && length <= kMaxSafetensorsHeader;
}

std::string_view looks_like(std::span<const std::byte> start) {
  // Before the signatures: a header length of 640 begins like a pickle.
  if (starts_like_safetensors(start)) return "a safetensors file";
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  for (const auto& row : kSignatures) {
    if (text.size() >= row.offset && text.substr(row.offset).starts_with(row.bytes))
      return row.what;
  }
  if (is_mgh(start)) return "a FreeSurfer volume (.mgh, .mgz); convert it with mri_convert";
  if (is_bmp(text)) return "a BMP picture";
  if (is_web_page(text)) return "a web page: the download gave an error or a login form";
  if (text.starts_with('{') || text.starts_with('[')) return "a JSON text";
  return {};
}

std::string_view looks_like_or_unknown(std::span<const std::byte> start) {
  if (start.empty()) return "an empty file";
  const auto known = looks_like(start);
  return known.empty() ? "something unknown" : known;
}

std::string looks_like_clause(std::span<const std::byte> start) {
  const auto known = looks_like(start);
  return known.empty() ? "got other bytes at its start."
                       : fmt::format("this looks like {}.", known);
}

}  // namespace ubique::io
