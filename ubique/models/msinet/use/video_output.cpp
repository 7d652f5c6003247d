// SPDX-License-Identifier: Apache-2.0
// Frame sinks: y4m files, standard output, ffmpeg.
#include <fmt/format.h>
#include <unistd.h>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/files/process.h"
#include "ubique/base/files/stream.h"
#include "ubique/base/text/text.h"
#include "ubique/models/msinet/use/video_files.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class FileSink final : public FrameSink {
 public:
  FileSink(const fs::path& path, const io::Y4mHeader& header) : file_(path) {
    file_.write(io::y4m_header_text(header));
  }
  void write(const io::Y4mFrame& frame) override {
    file_.write(io::kY4mFrameMark);
    file_.write(std::as_bytes(std::span(frame)));
  }
  void commit() override { file_.commit(); }

 private:
  AtomicFile file_;
};

/// Standard output: frames are written at once.
class StreamSink final : public FrameSink {
 public:
  StreamSink(const io::Y4mHeader& header, const engine::Sink& print) : print_(print) {
    print_(io::y4m_header_text(header));
  }
  void write(const io::Y4mFrame& frame) override {
    print_(io::kY4mFrameMark);
    print_({reinterpret_cast<const char*>(frame.data()), frame.size()});
  }
  void commit() override {}

 private:
  engine::Sink print_;
};

/// ffmpeg writes a temporary file in the same folder; commit() renames it.
class FfmpegSink final : public FrameSink {
 public:
  FfmpegSink(const fs::path& path, const io::Y4mHeader& header, const std::string& sound)
      : path_(path),
        temporary_(path.parent_path() /
                   fmt::format(".ubique-{}-{}", ::getpid(), path.filename().string())),
        program_(std::in_place, arguments(temporary_, sound), PipeEnd::Write) {
    put(bytes_of(io::y4m_header_text(header)));
  }
  ~FfmpegSink() override {
    program_.reset();  // must end before its file is removed
    std::error_code ignored;
    fs::remove(temporary_, ignored);
  }
  FfmpegSink(const FfmpegSink&) = delete;
  FfmpegSink& operator=(const FfmpegSink&) = delete;

  void write(const io::Y4mFrame& frame) override {
    put(bytes_of(io::kY4mFrameMark));
    put(std::as_bytes(std::span(frame)));
  }

  void commit() override {
    const int code = program_->finish();
    std::error_code error;
    if (code == 0) fs::rename(temporary_, path_, error);
    check(code == 0 && !error, ErrorKind::Input,
          "[msinet.video] ffmpeg cannot write {}; it says '{}'. A name that ends in .y4m needs no "
          "ffmpeg.",
          path_.string(), error ? error.message() : program_->stderr_tail());
    sync_folder(path_.parent_path());
  }

 private:
  static std::vector<std::string> arguments(const fs::path& output, const std::string& sound) {
    std::vector<std::string> words = {"ffmpeg", "-loglevel",    "error", "-y",
                                      "-f",     "yuv4mpegpipe", "-i",    "-"};
    const auto add = [&](const std::vector<std::string>& more) {
      words.insert(words.end(), more.begin(), more.end());
    };
    if (is_player_format(output) && !sound.empty()) {
      add({"-protocol_whitelist", "file", "-i", ffmpeg_name(sound), "-map", "0:v", "-map", "1:a?"});
      // Another container may not take the codec: there, ffmpeg encodes anew.
      if (ending_of(sound) == ending_of(output)) add({"-c:a", "copy"});
    }
    if (ending_of(output) != ".gif") add({"-pix_fmt", "yuv420p"});  // what most players want
    add({ffmpeg_name(output)});
    return words;
  }

  static std::string ending_of(const fs::path& path) {
    return lowercase(path.extension().string());
  }

  /// After a failed write, reports ffmpeg's own message instead of the broken pipe.
  void put(std::span<const std::byte> bytes) {
    try {
      write_fully(program_->descriptor(), bytes, "ffmpeg");
    } catch (const Error&) {
      program_->finish();
      fail(ErrorKind::Input, "[msinet.video] ffmpeg cannot write {}; it says '{}'.", path_.string(),
           program_->stderr_tail());
    }
  }

  fs::path path_, temporary_;
  std::optional<PipedProgram> program_;
};

}  // namespace

std::unique_ptr<FrameSink> create_video(const fs::path& output, const io::Y4mHeader& header,
                                        const engine::Sink& print, const std::string& sound) {
  check(
      output != "-" || ::isatty(STDOUT_FILENO) == 0, ErrorKind::Usage,
      "[msinet.video] standard output is a terminal; got -o - without a pipe, expected one: ubique "
      "run msinet ... -o - | ffplay -");
  if (output == "-") return std::make_unique<StreamSink>(header, print);
  if (!output.parent_path().empty()) make_folder(output.parent_path());
  if (!needs_ffmpeg(output)) return std::make_unique<FileSink>(output, header);
  check(find_program("ffmpeg").has_value(), ErrorKind::Input,
        "[msinet.video] {} needs the program ffmpeg, which is not on the PATH; expected it, or a "
        "name that ends in .y4m.",
        output.string());
  return std::make_unique<FfmpegSink>(output, header, sound);
}

}  // namespace ubique::msinet
