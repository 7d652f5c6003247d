// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/archive/file_type.h"

#include "ubique/base/text/text.h"
#include "ubique/io/archive/byte_order.h"

namespace ubique::io {
namespace {

using std::string_view_literals::operator""sv;

struct MagicRow {
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
};

constexpr MagicRow kMagic[] = {
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
    {0, "RIFF"sv, "a RIFF file (WAV sound?)"},
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
    {4, "n+2\0"sv, "a NIfTI-2 scan"},
};

bool starts_with_page(std::string_view text) {
  const auto start = lowercase(trim(text.substr(0, 64)));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

}  // namespace

bool starts_like_safetensors(std::span<const std::byte> start) {
  constexpr std::size_t kLength = 8;
  constexpr std::uint64_t kLongestHeader = 100'000'000;
  if (start.size() <= kLength || start[kLength] != std::byte{'{'}) return false;
  const auto length = load_little(start.first(kLength));
  return length >= 2 && length <= kLongestHeader;
}

std::string_view looks_like(std::span<const std::byte> start) {
  // First: a header length of 640 starts like a pickle.
  if (starts_like_safetensors(start)) return "a safetensors file";
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  for (const auto& row : kMagic) {
    if (text.size() >= row.offset && text.substr(row.offset).starts_with(row.bytes))
      return row.what;
  }
  if (starts_with_page(text)) return "a web page: the download gave an error or a login form";
  if (text.starts_with('{') || text.starts_with('[')) return "a JSON text";
  return {};
}

}  // namespace ubique::io
