// SPDX-License-Identifier: Apache-2.0
// Videos as streams of frames, wherever they come from and go to: .y4m files and pipes of our own,
// folders of pictures, and everything else through the program ffmpeg. Knows nothing of maps.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ubique/io/images/y4m.h"

namespace ubique::msinet {

bool is_video_name(const std::filesystem::path& path);  ///< .y4m, .mp4, .mov, .webm, .mkv, ...
bool needs_ffmpeg(const std::filesystem::path& path);   ///< one of them, but not .y4m

/// Frames in order. What each gives is a piece of work that any thread may do.
class FrameSource {
 public:
  using Decode = std::function<io::Picture()>;  ///< RGB; Input error for a frame that is damaged

  virtual ~FrameSource() = default;
  virtual const io::Y4mHeader& header() const = 0;
  /// Nothing at the end. Input error for a stream that breaks off.
  virtual std::optional<Decode> next() = 0;
};

/// A y4m file, any other video through ffmpeg, or standard input ("-"). Input error for what is no
/// video, and if ffmpeg is needed but not there; Usage error for a terminal.
std::unique_ptr<FrameSource> open_video(const std::string& input);
/// The pictures of a folder (their numbers counted as numbers), all of one size.
std::unique_ptr<FrameSource> open_sequence(const std::filesystem::path& folder, double frame_rate);

/// Takes frames; a file is there under its name only after commit().
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void write(const io::Y4mFrame& frame) = 0;
  virtual void commit() = 0;
};

/// By the name's ending, or standard output for "-". Errors as open_video has them.
std::unique_ptr<FrameSink> create_video(const std::filesystem::path& output,
                                        const io::Y4mHeader& header);

}  // namespace ubique::msinet
