// SPDX-License-Identifier: Apache-2.0
// gzip streams: read from memory, written piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct z_stream_s;

namespace ubique::io {

bool is_gzip(std::span<const std::byte> start);

/// The most bytes that `compressed` bytes can inflate to: deflate encodes at most 258 bytes in two
/// bits. Check a length that a header claims against this before allocating it.
std::uint64_t most_inflated(std::uint64_t compressed);

/// Input error for `unpacked` bytes that `packed` ones can hold, but only if they were made to fill
/// memory: see the constants. `what` begins the message: "[io.zip] x.npz".
void check_inflation(std::uint64_t packed, std::uint64_t unpacked, const std::string& what);

/// Contents up to this size may be packed however well: a mask of zeros shrinks a thousandfold.
constexpr std::uint64_t kFreelyInflated = 256ULL << 20U;
/// Larger ones of real data shrink by less than 100, label maps and sparse tables included.
constexpr std::uint64_t kMostPlausibleRatio = 200;

/// Inflates directly into the caller's buffer. Several members in a row (as pigz and bgzip write
/// them) are read as one content; bytes after the last one are ignored. Input error for a stream
/// that is cut short, damaged or fails its checksum.
class GzipReader {
 public:
  GzipReader(std::span<const std::byte> compressed, std::string name);

  /// Fills `out` as far as the content reaches; returns the number of bytes.
  std::size_t read(std::span<std::byte> out);
  /// Reads on to the end of the content, where the checksum is; stops after `limit` bytes.
  void check_rest(std::uint64_t limit);

 private:
  void inflate_more();
  void next_member();
  [[noreturn]] void fail_damaged(const char* reason) const;

  struct Deleter {
    void operator()(z_stream_s* stream) const;
  };
  std::unique_ptr<z_stream_s, Deleter> stream_;
  std::span<const std::byte> rest_;  // compressed bytes that zlib has not been given yet
  std::string name_;
  std::uint64_t produced_ = 0;
  bool ended_ = false;
};

constexpr int kGzipLevel = 6;  ///< zlib's default; 0 stores, 9 compresses most

/// Writes one member, without name or time, so that equal contents give equal files.
class GzipWriter {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;

  explicit GzipWriter(Sink sink, int level = kGzipLevel);
  void write(std::span<const std::byte> content);
  void finish();

 private:
  void deflate_some(std::span<const std::byte> content, int flush);

  struct Deleter {
    void operator()(z_stream_s* stream) const;
  };
  std::unique_ptr<z_stream_s, Deleter> stream_;
  Sink sink_;
  std::vector<std::byte> buffer_;
};

}  // namespace ubique::io
