// SPDX-License-Identifier: Apache-2.0
// Parses the stream: one line of parameters, then frames, each after a FRAME line.
#include "ubique/io/images/y4m.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/archive/file_type.h"

namespace ubique::io {
namespace {

constexpr std::string_view kY4mMagic = "YUV4MPEG2";
constexpr std::uint64_t kMostVideoPixels = 1U << 26U;
constexpr std::size_t kLongestHeader = 1024, kLongestFrameLine = 256;
constexpr std::size_t kReadAtOnce = 1U << 20U;  // a header may claim more than the file holds

std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t most) {
  const bool digits = !text.empty() && text.size() <= 12 &&
                      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) value = 10 * value + (c - '0');
  return value <= most ? std::optional(value) : std::nullopt;
}

std::optional<Chroma> parse_chroma(std::string_view name) {
  for (const auto* known : {"420", "420jpeg", "420mpeg2", "420paldv"}) {
    if (name == known) return Chroma::C420;
  }
  if (name == "422") return Chroma::C422;
  if (name == "444") return Chroma::C444;
  if (name == "mono") return Chroma::Mono;
  return std::nullopt;
}

/// One parameter, such as W640, into the header.
void take_parameter(Y4mHeader& header, const std::string& word, const std::string& name) {
  constexpr std::int64_t kMostNumber = 0x7FFF'FFFF;
  const auto value = word.substr(1);
  const auto require = [&](bool good, std::string_view expected) {
    check(good, ErrorKind::Input,
          "[io.y4m] {}: a parameter of the video makes no sense; got '{}', "
          "expected {}.",
          name, printable(word), expected);
  };
  if (word[0] == 'W' || word[0] == 'H') {
    const auto side = whole_number(value, kMostNumber);
    require(side && *side > 0, "a number of pixels");
    (word[0] == 'W' ? header.width : header.height) = static_cast<int>(*side);
  } else if (word[0] == 'F') {
    const auto colon = value.find(':');
    const auto rate = whole_number(value.substr(0, colon), kMostNumber);
    const auto per =
        whole_number(colon == std::string::npos ? "1" : value.substr(colon + 1), kMostNumber);
    require(rate && per && *rate > 0 && *per > 0, "frames per second such as F25:1");
    header.rate = *rate, header.per = *per;
  } else if (word[0] == 'C') {
    const auto chroma = parse_chroma(value);
    require(chroma.has_value(),
            "C420jpeg, C420mpeg2, C420paldv, C420, C422, C444 or Cmono of 8 "
            "bits (ffmpeg: -pix_fmt yuv420p)");
    header.chroma = *chroma, header.chroma_name = value;
  } else if (word == "XCOLORRANGE=FULL") {
    header.full_range = true;
  } else if (word[0] == 'I') {
    require(value.size() == 1 && std::string_view("?ptbm").find(value) != std::string_view::npos,
            "Ip, It, Ib or Im");
    header.interlacing = value;
  } else if (word[0] == 'A') {
    const auto colon = value.find(':');
    require(colon != std::string::npos && whole_number(value.substr(0, colon), kMostNumber) &&
                whole_number(value.substr(colon + 1), kMostNumber),
            "a ratio such as A1:1");
    header.aspect = value;
  }  // unknown parameters are ignored
}

}  // namespace

std::size_t Y4mHeader::frame_bytes() const {
  const auto w = static_cast<std::size_t>(width), h = static_cast<std::size_t>(height);
  if (chroma == Chroma::Mono) return w * h;
  const auto across = chroma == Chroma::C444 ? w : (w + 1) / 2;
  const auto down = chroma == Chroma::C420 ? (h + 1) / 2 : h;
  return w * h + 2 * across * down;
}

Y4mReader::Y4mReader(ByteSource source, std::string name)
    : source_(std::move(source)), name_(std::move(name)) {
  std::string magic(kY4mMagic.size(), '\0');
  magic.resize(source_(std::as_writable_bytes(std::span(magic))));
  if (magic != kY4mMagic) refuse_start(magic);
  const auto parameters = line(kLongestHeader);
  check(parameters.has_value(), ErrorKind::Input,
        "[io.y4m] {} is cut short; its first line does not end.", name_);
  for (const auto& word : split(*parameters, ' ')) take_parameter(header_, word, name_);
  check(header_.width > 0 && header_.height > 0, ErrorKind::Input,
        "[io.y4m] {} does not say how large its frames are; got '{}', expected W and H.", name_,
        printable(*parameters));
  const auto pixels =
      static_cast<std::uint64_t>(header_.width) * static_cast<std::uint64_t>(header_.height);
  check(pixels <= kMostVideoPixels, ErrorKind::Input,
        "[io.y4m] {} is too large; got frames of {} x {} pixels, expected at most {}.", name_,
        header_.width, header_.height, kMostVideoPixels);
}

void Y4mReader::refuse_start(const std::string& start) const {
  fail(ErrorKind::Input,
       "[io.y4m] {} is no YUV4MPEG2 video; it looks like {}, expected a stream that begins with "
       "YUV4MPEG2 (ffmpeg: -f yuv4mpegpipe -pix_fmt yuv420p -).",
       name_, looks_like_or_unknown(std::as_bytes(std::span(start))));
}

/// Reads up to the next line end, byte by byte, so that no byte of the frame is taken. Nothing if
/// the stream ends or the line is longer than `most`.
std::optional<std::string> Y4mReader::line(std::size_t most) {
  std::string text;
  std::array<std::byte, 1> next{};
  while (text.size() <= most && source_(next) == 1) {
    if (next[0] == std::byte{'\n'}) return text;
    text += static_cast<char>(next[0]);
  }
  return std::nullopt;
}

std::optional<Y4mFrame> Y4mReader::next() {
  constexpr std::string_view kFrame = "FRAME";
  std::string mark(kFrame.size(), '\0');
  const auto got = source_(std::as_writable_bytes(std::span(mark)));
  if (got == 0) return std::nullopt;
  const bool begins = mark == kFrame && line(kLongestFrameLine).has_value();
  check(begins, ErrorKind::Input,
        "[io.y4m] {} is damaged after {} frames; got '{}', expected FRAME or the end.", name_,
        frames_, printable(mark.substr(0, got)));
  Y4mFrame frame;
  const auto whole = header_.frame_bytes();
  while (frame.size() < whole) {
    const auto begin = frame.size();
    frame.resize(begin + std::min(whole - begin, std::max(begin, kReadAtOnce)));
    const auto piece = std::as_writable_bytes(std::span(frame)).subspan(begin);
    check(source_(piece) == piece.size(), ErrorKind::Input,
          "[io.y4m] {} is cut short in frame {}; expected {} bytes.", name_, frames_ + 1, whole);
  }
  ++frames_;
  return frame;
}

std::string y4m_header_text(const Y4mHeader& header) {
  return fmt::format("{} W{} H{} F{}:{} I{} A{} C{} XCOLORRANGE={}\n", kY4mMagic, header.width,
                     header.height, header.rate, header.per, header.interlacing, header.aspect,
                     header.chroma_name, header.full_range ? "FULL" : "LIMITED");
}

}  // namespace ubique::io
