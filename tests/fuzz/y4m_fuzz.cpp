// SPDX-License-Identifier: Apache-2.0
// Any bytes as a video: an Input error, or frames of the header's size that convert to RGB and
// back, and a header that survives being written and read again.
#include <algorithm>
#include <cstring>
#include <span>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/images/y4m.h"

using namespace ubique;
using fuzz::require;

namespace {

io::ByteSource source_of(std::span<const std::byte> bytes) {
  return [bytes](std::span<std::byte> out) mutable {
    const auto count = std::min(out.size(), bytes.size());
    if (count > 0) std::memcpy(out.data(), bytes.data(), count);
    bytes = bytes.subspan(count);
    return count;
  };
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  io::Y4mReader reader(source_of(input), "fuzz");
  const auto& header = reader.header();
  const auto text = io::y4m_header_text(header);
  const io::Y4mReader again(source_of(fuzz::bytes_of(text)), "again");
  require(io::y4m_header_text(again.header()) == text);
  while (const auto frame = reader.next()) {
    require(frame->size() == header.frame_bytes());
    const auto picture = io::y4m_picture(header, *frame);
    require(io::y4m_frame(header, picture).size() == frame->size());
  }
}
