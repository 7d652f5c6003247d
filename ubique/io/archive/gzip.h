// SPDX-License-Identifier: Apache-2.0
// gzip streams, read from memory and written piece by piece. Knows nothing of what is inside.
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

/// What so many compressed bytes can become at most: deflate codes no more than 258 bytes in two
/// bits. A length that a header claims is measured against this before memory is taken for it.
std::uint64_t most_inflated(std::uint64_t compressed);

/// Inflates straight into the caller's memory. Members that follow each other (as pigz and bgzip
/// write them) are one content; what follows the last one is ignored. Input error for a stream that
/// is cut short, damaged or fails its checksum.
class GzipReader {
 public:
  GzipReader(std::span<const std::byte> compressed, std::string name);

  /// Fills `out`, or as much of it as there still is; returns how much.
  std::size_t read(std::span<std::byte> out);
  /// Goes on to the end of the content, where its checksum is; gives up after `limit` bytes.
  void check_rest(std::uint64_t limit);

 private:
  void inflate_more();
  void next_member();
  [[noreturn]] void fail_damaged(const char* reason) const;

  struct Deleter {
    void operator()(z_stream_s* stream) const;
  };
  std::unique_ptr<z_stream_s, Deleter> stream_;
  std::span<const std::byte> rest_;  // of the compressed bytes, beyond those zlib was given
  std::string name_;
  std::uint64_t produced_ = 0;
  bool ended_ = false;
};

constexpr int kGzipLevel = 6;  ///< zlib's own default; 0 stores, 9 takes longest

/// One member, without name or time, so that equal contents give equal files.
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
