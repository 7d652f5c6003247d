// SPDX-License-Identifier: Apache-2.0
// NIfTI files built field by field in either byte order, so that the tests of the reader do not
// depend on the writer; and gzip by zlib alone.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tests/io/samples.h"

namespace ubique::test {

/// The bytes of a number in either order.
template <typename T>
std::string number_bytes(T value, bool big) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  if (big != (std::endian::native == std::endian::big)) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

template <typename T>
std::string voxel_bytes(const std::vector<T>& values, bool big = false) {
  std::string bytes;
  for (const auto value : values) bytes += number_bytes(value, big);
  return bytes;
}

/// All that a header says, sensible or not; by default 2 x 3 x 2 whole numbers of 16 bits.
struct SampleScan {
  int version = 1;
  bool big = false, paired = false;
  std::array<std::int64_t, 8> dim{3, 2, 3, 2, 1, 1, 1, 1};
  int datatype = 4;
  std::array<double, 8> pixdim{1, 2, 3, 4, 1, 1, 1, 1};
  double vox_offset = -1;  // -1: right behind the header
  double slope = 1, inter = 0;
  int units = 2, qform_code = 0, sform_code = 0;
  std::array<double, 3> quaternion{}, qoffset{};
  std::array<double, 12> srow{};
  std::string description = {}, magic = {}, between = {};  // between header and voxels
  std::string voxels = voxel_bytes<std::int16_t>({1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12});

  std::string header() const { return version == 1 ? first() : second(); }
  std::string file() const { return header() + std::string(4, '\0') + between + voxels; }

 private:
  double offset() const {
    const double start = version == 1 ? 352 : 544;
    if (vox_offset != -1) return vox_offset;
    return paired ? 0 : start + static_cast<double>(between.size());
  }
  template <typename T, typename List>
  void put(std::string& out, std::size_t place, const List& values) const {
    for (const auto value : values) {
      out.replace(place, sizeof(T), number_bytes(static_cast<T>(value), big));
      place += sizeof(T);
    }
  }
  template <typename T, typename V>
  void put_one(std::string& out, std::size_t place, V value) const {
    put<T>(out, place, std::array<V, 1>{value});
  }
  std::string first() const {
    std::string out(348, '\0');
    put_one<std::int32_t>(out, 0, 348);
    put<std::int16_t>(out, 40, dim);
    put_one<std::int16_t>(out, 70, datatype);
    put<float>(out, 76, pixdim);
    put_one<float>(out, 108, offset());
    put_one<float>(out, 112, slope);
    put_one<float>(out, 116, inter);
    put_one<std::uint8_t>(out, 123, units);
    out.replace(148, description.size(), description);
    put_one<std::int16_t>(out, 252, qform_code);
    put_one<std::int16_t>(out, 254, sform_code);
    put<float>(out, 256, quaternion);
    put<float>(out, 268, qoffset);
    put<float>(out, 280, srow);
    const auto own = magic.empty() ? std::string(paired ? "ni1" : "n+1") : magic;
    out.replace(344, own.size(), own);
    return out;
  }
  std::string second() const {
    std::string out(540, '\0');
    put_one<std::int32_t>(out, 0, 540);
    const auto own = magic.empty() ? std::string(paired ? "ni2" : "n+2") : magic;
    out.replace(4, own.size(), own);
    out.replace(8, 4, "\r\n\032\n");
    put_one<std::int16_t>(out, 12, datatype);
    put<std::int64_t>(out, 16, dim);
    put<double>(out, 104, pixdim);
    put_one<std::int64_t>(out, 168, offset());
    put_one<double>(out, 176, slope);
    put_one<double>(out, 184, inter);
    out.replace(240, description.size(), description);
    put_one<std::int32_t>(out, 344, qform_code);
    put_one<std::int32_t>(out, 348, sform_code);
    put<double>(out, 352, quaternion);
    put<double>(out, 376, qoffset);
    put<double>(out, 400, srow);
    put_one<std::int32_t>(out, 500, units);
    return out;
  }
};

/// One gzip member.
inline std::string gzipped(std::string_view content, int level = 6) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Bytes as numbers of this machine.
template <typename T>
std::vector<T> numbers_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace ubique::test
