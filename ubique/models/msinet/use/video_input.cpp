// SPDX-License-Identifier: Apache-2.0
// Frame sources: y4m streams, ffmpeg, folders of pictures.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/files/process.h"
#include "ubique/base/files/stream.h"
#include "ubique/base/text/text.h"
#include "ubique/data/images/pairing.h"
#include "ubique/io/images/image.h"
#include "ubique/models/msinet/use/video_files.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 14> kVideoEndings = {".y4m", ".mp4", ".m4v", ".mov", ".webm",
                                                            ".mkv", ".avi", ".gif", ".mpg", ".mpeg",
                                                            ".ts",  ".wmv", ".flv", ".ogv"};

io::ByteSource bytes_from(int descriptor, const std::string& name) {
  return [descriptor, name](std::span<std::byte> bytes) {
    return read_fully(descriptor, bytes, name);
  };
}

FrameSource::Decode decode_of(const io::Y4mHeader& header, io::Y4mFrame frame) {
  auto shared = std::make_shared<io::Y4mFrame>(std::move(frame));
  return [header, shared] { return io::y4m_picture(header, *shared); };
}

/// A file or standard input.
class StreamSource final : public FrameSource {
 public:
  explicit StreamSource(const std::string& input)
      : file_(input == "-" ? nullptr : std::make_unique<InputStream>(input)),
        reader_(bytes_from(file_ ? file_->descriptor() : STDIN_FILENO, name_of(input)),
                name_of(input)) {}

  const io::Y4mHeader& header() const override { return reader_.header(); }
  std::optional<Decode> next() override {
    auto frame = reader_.next();
    if (!frame) return std::nullopt;
    return decode_of(header(), std::move(*frame));
  }

 private:
  static std::string name_of(const std::string& input) {
    return input == "-" ? "standard input" : input;
  }

  std::unique_ptr<InputStream> file_;
  io::Y4mReader reader_;
};

/// Any format that ffmpeg can read.
class FfmpegSource final : public FrameSource {
 public:
  explicit FfmpegSource(const std::string& input)
      : name_(input),
        program_(
            {"ffmpeg", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file", "-i",
             ffmpeg_name(input), "-an", "-sn", "-f", "yuv4mpegpipe", "-pix_fmt", "yuv420p", "-"},
            PipeEnd::Read) {
    try {
      reader_.emplace(bytes_from(program_.descriptor(), input), input);
    } catch (const Error&) {
      check_end();
      throw;
    }
  }

  const io::Y4mHeader& header() const override { return reader_->header(); }
  std::optional<Decode> next() override {
    auto frame = reader_->next();
    if (frame) return decode_of(header(), std::move(*frame));
    check_end();
    return std::nullopt;
  }

 private:
  void check_end() {
    if (ended_) return;
    ended_ = true;
    const int code = program_.finish();
    check(code == 0, ErrorKind::Input, "[msinet.video] ffmpeg cannot read {}; it says '{}'.", name_,
          program_.stderr_tail());
  }

  std::string name_;
  PipedProgram program_;
  std::optional<io::Y4mReader> reader_;
  bool ended_ = false;
};

/// Natural order, "frame_2" before "frame_10": runs of digits compare as numbers.
bool before_by_number(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const auto begin = at;
      while (at < text.size() && digit(text[at])) ++at;
      return std::string_view(text).substr(begin, at - begin);
    };
    const auto left = number(a, i), right = number(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  return a.size() - i < b.size() - j;
}

class SequenceSource final : public FrameSource {
 public:
  SequenceSource(const fs::path& folder, double frame_rate) : pictures_(data::images_in(folder)) {
    check(!pictures_.empty(), ErrorKind::Input,
          "[msinet.video] no picture found; got {}, expected .png or .jpg files.", folder.string());
    std::ranges::stable_sort(pictures_, [](const fs::path& a, const fs::path& b) {
      return before_by_number(a.string(), b.string());
    });
    size_ = io::image_size(pictures_.front());
    header_.width = size_.width;
    header_.height = size_.height;
    constexpr double kPer = 1000;
    header_.rate = static_cast<std::int64_t>(std::lround(frame_rate * kPer));
    header_.per = static_cast<std::int64_t>(kPer);
  }

  const io::Y4mHeader& header() const override { return header_; }
  std::optional<Decode> next() override {
    if (done_ == pictures_.size()) return std::nullopt;
    return [path = pictures_[done_++], size = size_] {
      auto picture = io::as_rgb(io::read_image(path));
      check(picture.width == size.width && picture.height == size.height, ErrorKind::Input,
            "[msinet.video] {} does not fit the sequence; got {} x {}, expected {} x {} as the "
            "first one has.",
            path.string(), picture.width, picture.height, size.width, size.height);
      return picture;
    };
  }

 private:
  std::vector<fs::path> pictures_;
  io::PictureSize size_;
  io::Y4mHeader header_;
  std::size_t done_ = 0;
};

}  // namespace

bool is_video_name(const fs::path& path) {
  return std::ranges::find(kVideoEndings, lowercase(path.extension().string())) !=
         kVideoEndings.end();
}

bool needs_ffmpeg(const fs::path& path) {
  return is_video_name(path) && lowercase(path.extension().string()) != ".y4m";
}

bool is_player_format(const fs::path& path) {
  return needs_ffmpeg(path) && lowercase(path.extension().string()) != ".gif";
}

std::string ffmpeg_name(const fs::path& path) { return "file:" + fs::absolute(path).string(); }

std::unique_ptr<FrameSource> open_video(const std::string& input) {
  check(input != "-" || ::isatty(STDIN_FILENO) == 0, ErrorKind::Usage,
        "[msinet.video] standard input is a terminal; got no video, expected "
        "a pipe: ffmpeg -i clip.mp4 -f yuv4mpegpipe - | ubique run msinet - ...");
  if (!needs_ffmpeg(input)) return std::make_unique<StreamSource>(input);
  std::error_code ignored;
  check(fs::exists(input, ignored), ErrorKind::Input,
        "[msinet.video] there is no {}; expected a video there.", input);
  check(find_program("ffmpeg").has_value(), ErrorKind::Input,
        "[msinet.video] {} needs the program ffmpeg, which is not on the PATH; expected it, or "
        "frames on standard input: ffmpeg -i {} -f yuv4mpegpipe -pix_fmt yuv420p - | ubique run "
        "msinet - ...",
        input, input);
  return std::make_unique<FfmpegSource>(input);
}

std::unique_ptr<FrameSource> open_sequence(const fs::path& folder, double frame_rate) {
  return std::make_unique<SequenceSource>(folder, frame_rate);
}

}  // namespace ubique::msinet
