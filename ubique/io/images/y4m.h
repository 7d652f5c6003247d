// SPDX-License-Identifier: Apache-2.0
// YUV4MPEG2 video (.y4m): uncompressed frames in a row, which video programs write to and read from
// a pipe. 8 bits; 4:2:0, 4:2:2, 4:4:4 and grey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/images/png.h"

namespace ubique::io {

enum class Chroma { C420, C422, C444, Mono };

struct Y4mHeader {
  int width = 0, height = 0;
  std::int64_t rate = 25, per = 1;      ///< frames per second: rate / per
  Chroma chroma = Chroma::C420;         ///< chroma subsampling
  std::string chroma_name = "420jpeg";  ///< as written after C; includes the chroma siting
  bool full_range = false;              ///< luma 0 to 255; else 16 to 235
  std::string interlacing = "p", aspect = "1:1";  ///< copied unchanged

  double frames_per_second() const { return static_cast<double>(rate) / static_cast<double>(per); }
  std::size_t frame_bytes() const;
};

/// Planes Y, Cb and Cr in a row, each with its rows from the top.
using Y4mFrame = std::vector<std::uint8_t>;

/// Fills the buffer and returns the number of bytes: fewer only at the end.
using ByteSource = std::function<std::size_t(std::span<std::byte>)>;

class Y4mReader {
 public:
  /// Reads the header. Input error for other formats, more than 8 bits, alpha, 4:1:1, an unknown
  /// rate and more than 2^26 pixels; error messages call the stream `name`.
  Y4mReader(ByteSource source, std::string name);

  const Y4mHeader& header() const { return header_; }
  /// The next frame, or nothing at the end. Input error for one that is cut short.
  std::optional<Y4mFrame> next();
  std::int64_t frames() const { return frames_; }  ///< read so far

 private:
  std::optional<std::string> line(std::size_t most);
  [[noreturn]] void refuse_start(const std::string& start) const;

  ByteSource source_;
  std::string name_;
  Y4mHeader header_;
  std::int64_t frames_ = 0;
};

std::string y4m_header_text(const Y4mHeader& header);
/// The line before each frame.
inline constexpr std::string_view kY4mFrameMark = "FRAME\n";

/// A frame as RGB: BT.709 from 1280 x 720 on, BT.601 below, as players choose. Chroma is repeated
/// over the pixels that share it.
Picture y4m_picture(const Y4mHeader& header, const Y4mFrame& frame);
/// The inverse, for an RGB picture of the header's size.
Y4mFrame y4m_frame(const Y4mHeader& header, const Picture& picture);

}  // namespace ubique::io
