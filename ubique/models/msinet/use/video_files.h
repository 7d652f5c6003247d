// SPDX-License-Identifier: Apache-2.0
// Videos as streams of frames: .y4m files and pipes by our own reader, folders of pictures, and all
// other formats through the program ffmpeg. Independent of maps.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ubique/engine/contract/request.h"
#include "ubique/io/images/y4m.h"

namespace ubique::msinet {

bool is_video_name(const std::filesystem::path& path);  ///< .y4m, .mp4, .mov, .webm, .mkv, ...
bool needs_ffmpeg(const std::filesystem::path& path);   ///< one of them, but not .y4m
/// One of those but .gif: it may have sound, and has even sides, as players want.
bool is_player_format(const std::filesystem::path& path);
/// The name by which ffmpeg takes a local file for nothing else, such as a URL or "concat:...".
std::string ffmpeg_name(const std::filesystem::path& path);

/// Frames in order. next() returns a function that decodes the frame on any thread.
class FrameSource {
 public:
  using Decode = std::function<io::Picture()>;  ///< RGB; Input error for a damaged frame

  virtual ~FrameSource() = default;
  virtual const io::Y4mHeader& header() const = 0;
  /// Empty at the end. Input error for a stream that breaks off.
  virtual std::optional<Decode> next() = 0;
};

/// A y4m file, any other video through ffmpeg, or standard input ("-"). Input error for a file that
/// is not a video and if ffmpeg is needed but missing; Usage error for a terminal.
std::unique_ptr<FrameSource> open_video(const std::string& input);
/// The pictures of a folder in numeric order (frame_2 before frame_10), all of one size.
std::unique_ptr<FrameSource> open_sequence(const std::filesystem::path& folder, double frame_rate);

/// Receives frames; a file appears under its name only after commit().
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void write(const io::Y4mFrame& frame) = 0;
  virtual void commit() = 0;
};

/// By the name's extension, or `print` for "-". The sound, where the output keeps one, is that of
/// the video `sound` (empty: none). Errors as open_video has them.
std::unique_ptr<FrameSink> create_video(const std::filesystem::path& output,
                                        const io::Y4mHeader& header, const engine::Sink& print,
                                        const std::string& sound = {});

}  // namespace ubique::msinet
