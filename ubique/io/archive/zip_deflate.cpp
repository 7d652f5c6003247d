// SPDX-License-Identifier: Apache-2.0
// Raw deflate and inflate by zlib.
#include "ubique/io/archive/zip_deflate.h"

#include <zlib.h>

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::io {
namespace {

constexpr int kRawWindow = -15;                  // negative: no header, no checksum
constexpr std::size_t kMostPerCall = 1U << 30U;  // zlib counts in 32 bits

/// Hands input and output buffers to a zlib stream in pieces that its 32-bit counters can hold.
class StreamWindow {
 public:
  StreamWindow(z_stream& stream, std::span<const std::byte> in, std::span<std::byte> out)
      : stream_(stream), in_(in), out_(out) {}

  void refill() {
    if (stream_.avail_in == 0) {
      const auto piece = in_.first(std::min(in_.size(), kMostPerCall));
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
      stream_.avail_in = static_cast<uInt>(piece.size());
      in_ = in_.subspan(piece.size());
    }
    if (stream_.avail_out == 0) {
      const auto piece = out_.first(std::min(out_.size(), kMostPerCall));
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = static_cast<uInt>(piece.size());
      out_ = out_.subspan(piece.size());
    }
  }
  bool all_given() const { return in_.empty(); }

 private:
  z_stream& stream_;
  std::span<const std::byte> in_;
  std::span<std::byte> out_;
};

}  // namespace

std::vector<std::byte> deflate_raw(std::span<const std::byte> bytes) {
  z_stream stream{};
  const int ready =
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawWindow, 8, Z_DEFAULT_STRATEGY);
  check(ready == Z_OK, ErrorKind::Internal, "[io.zip] zlib does not start; code {}.", ready);
  std::vector<std::byte> packed(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  StreamWindow window(stream, bytes, packed);
  int code = Z_OK;
  while (code == Z_OK) {
    window.refill();
    code = deflate(&stream, window.all_given() ? Z_FINISH : Z_NO_FLUSH);
  }
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  check(code == Z_STREAM_END, ErrorKind::Internal, "[io.zip] zlib cannot deflate; code {}.", code);
  return packed;
}

std::optional<std::vector<std::byte>> inflate_raw(std::span<const std::byte> packed,
                                                  std::uint64_t size) {
  z_stream stream{};
  const int ready = inflateInit2(&stream, kRawWindow);
  check(ready == Z_OK, ErrorKind::Internal, "[io.zip] zlib does not start; code {}.", ready);
  // One byte more than expected: zlib needs room left to report the end of the stream, and a stream
  // that is too long fills it.
  std::vector<std::byte> bytes(size + 1);
  StreamWindow window(stream, packed, bytes);
  int code = Z_OK;
  while (code == Z_OK) {
    window.refill();
    code = inflate(&stream, Z_NO_FLUSH);
  }
  const bool whole = code == Z_STREAM_END && stream.total_out == size && window.all_given() &&
                     stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace ubique::io
