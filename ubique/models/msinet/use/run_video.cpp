// SPDX-License-Identifier: Apache-2.0
// The pipeline of a video: decode, predict in batches, smooth, draw, write in order.
#include "ubique/models/msinet/use/run_video.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <optional>

#include "ubique/base/files/file.h"
#include "ubique/base/ordered_workers.h"
#include "ubique/base/terminal/log.h"
#include "ubique/data/prefetch.h"
#include "ubique/models/msinet/use/run_tables.h"
#include "ubique/models/msinet/use/smoothing.h"
#include "ubique/models/msinet/use/video_files.h"

namespace ubique::msinet {
namespace {

/// A frame as RGB, and resized to the network's input.
struct ReadyFrame {
  io::Picture picture;
  at::Tensor image;  // (3, H, W)
};

struct FinishedFrame {
  io::Y4mFrame frame;
  std::string attention, fixations;
};

/// Grey videos get chroma planes for the overlay's colours; view Both doubles the width. What
/// ffmpeg writes for players is 4:2:0, which has even sides.
io::Y4mHeader output_header(io::Y4mHeader header, VideoView view, bool even_sides) {
  if (header.chroma == io::Chroma::Mono) {
    header.chroma = io::Chroma::C420;
    header.chroma_name = "420jpeg";
  }
  if (view == VideoView::Both) header.width *= 2;
  if (even_sides) {
    header.width += header.width % 2;
    header.height += header.height % 2;
  }
  return header;
}

/// The picture with its last column and row repeated to at least this size.
io::Picture extended(io::Picture picture, int width, int height) {
  if (picture.width == width && picture.height == height) return picture;
  io::Picture out{width, height, picture.channels, {}};
  const auto channels = static_cast<std::size_t>(picture.channels);
  const auto row_bytes = channels * static_cast<std::size_t>(picture.width);
  for (int y = 0; y < height; ++y) {
    const auto* row = picture.pixels.data() +
                      row_bytes * static_cast<std::size_t>(std::min(y, picture.height - 1));
    out.pixels.insert(out.pixels.end(), row, row + row_bytes);
    for (int x = picture.width; x < width; ++x) {
      out.pixels.insert(out.pixels.end(), row + row_bytes - channels, row + row_bytes);
    }
  }
  return out;
}

/// The video whose sound the result can have, if any.
std::string sound_of(const VideoJob& job) {
  return !job.sequence && is_player_format(job.input) ? job.input : std::string();
}

/// Says how the result differs from the input in more than the overlay.
void note_differences(const VideoJob& job, const io::Y4mHeader& drawn, const io::Y4mHeader& out) {
  if (!sound_of(job).empty() && !is_player_format(job.output)) {
    log::info("{} gets no sound, whatever {} has: .y4m and .gif have none", job.output.string(),
              job.input);
  }
  if (drawn.width != out.width || drawn.height != out.height) {
    log::info("{} is {} x {}: its last column or row is repeated, because {} x {} has an odd side",
              job.output.string(), out.width, out.height, drawn.width, drawn.height);
  }
}

/// A table written line by line as frames finish.
class StreamedTable {
 public:
  StreamedTable(bool wanted, std::filesystem::path path, const char* ending,
                const std::string& header) {
    if (!wanted) return;
    path += ending;
    if (!path.parent_path().empty()) make_folder(path.parent_path());
    file_.emplace(path);
    file_->write(header);
  }
  void add(const std::string& lines) {
    if (file_ && !lines.empty()) file_->write(lines);
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::optional<AtomicFile> file_;
};

std::unique_ptr<FrameSource> open_source(const VideoJob& job, const RunSettings& settings) {
  auto source =
      job.sequence ? open_sequence(job.input, settings.frame_rate) : open_video(job.input);
  const auto& header = source->header();
  const auto pixels = static_cast<std::int64_t>(header.width) * header.height;
  check(pixels <= settings.max_pixels, ErrorKind::Input,
        "[msinet.video] the frames of {} are too large; got {} x {} = {} pixels, expected at most "
        "{}. Make them smaller, or allow more with --max-pixels.",
        job.input, header.width, header.height, pixels, settings.max_pixels);
  return source;
}

class VideoRun {
 public:
  VideoRun(Predictor& predictor, const VideoJob& job, const RunSettings& settings,
           const RunPace& pace)
      : predictor_(predictor),
        settings_(settings),
        pace_(pace),
        source_(open_source(job, settings)),
        rate_(source_->header().frames_per_second()),
        output_(output_header(source_->header(), settings.view, is_player_format(job.output))),
        smoother_(settings.smooth, rate_),
        attention_(!settings.boxes.empty(), job.tables, "_attention.csv",
                   "frame,time," + box_csv_columns() + "\n"),
        fixations_(settings.top > 0, job.tables, "_fixations.csv",
                   "frame,time," + fixation_csv_columns() + "\n"),
        sink_(create_video(job.output, output_, settings.print, sound_of(job))),
        progress_({.title = "saliency", .unit = "frames", .style = settings.progress}, std::cerr) {
    note_differences(job, output_header(source_->header(), settings.view, false), output_);
  }

  VideoDone run(const std::string& name) {
    const auto start = std::chrono::steady_clock::now();
    {
      data::Prefetch<ReadyFrame> ready(reader(), pace_.decoders);
      OrderedWorkers<FinishedFrame> written([this](FinishedFrame&& frame) { take(frame); },
                                            pace_.encoders);
      bool more = true;
      while (more && !done_.stopped) {
        auto frames = collect(ready, more);
        if (!frames.empty()) predict(std::move(frames), written);
        done_.stopped = settings_.stopped();
      }
      written.finish();
    }
    check(done_.frames > 0, ErrorKind::Input, "[msinet.video] {} holds no frames.", name);
    sink_->commit();
    attention_.commit();
    fixations_.commit();
    progress_.finish();
    done_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(done_);
  }

 private:
  data::Prefetch<ReadyFrame>::Source reader() {
    return [this]() -> std::optional<data::Prefetch<ReadyFrame>::Job> {
      auto decode = source_->next();
      if (!decode) return std::nullopt;
      return [this, decode = std::move(*decode)] {
        ReadyFrame ready{decode(), {}};
        ready.image = predictor_.prepare(ready.picture);
        return ready;
      };
    };
  }

  /// The next batch. A stream that breaks off ends there, unless it had no frame at all.
  std::vector<ReadyFrame> collect(data::Prefetch<ReadyFrame>& ready, bool& more) {
    std::vector<ReadyFrame> frames;
    try {
      while (frames.size() < static_cast<std::size_t>(pace_.batch)) {
        auto next = ready.next();
        more = next.has_value();
        if (!more) break;
        frames.push_back(std::move(*next));
        ++read_;
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input || read_ == 0) throw;
      log::error("{}", error.what());
      done_.error = error.what();
      more = false;
    }
    return frames;
  }

  void predict(std::vector<ReadyFrame> frames, OrderedWorkers<FinishedFrame>& written) {
    std::vector<at::Tensor> images;
    for (const auto& frame : frames) images.push_back(frame.image);
    const auto maps = predictor_.maps(at::stack(images));  // (B, H, W)
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto map = smoother_.next(maps[static_cast<std::int64_t>(i)]);
      auto picture = std::make_shared<io::Picture>(std::move(frames[i].picture));
      written.push(
          [this, picture, map, number = pushed_++] { return finish(*picture, map, number); });
    }
  }

  FinishedFrame finish(const io::Picture& picture, const at::Tensor& small,
                       std::int64_t number) const {
    const auto map = predictor_.restore(small, {picture.height, picture.width});
    const MeasuredMap<float> measured(map.values, map.width, map.height);
    FinishedFrame finished;
    finished.frame =
        io::y4m_frame(output_, extended(drawn(picture, measured), output_.width, output_.height));
    const auto when = fmt::format("{},{:.3f}", number, static_cast<double>(number) / rate_);
    finished.attention = box_csv_rows(when, box_shares(measured, settings_.boxes));
    finished.fixations = fixation_csv_lines(when, measured, settings_.top);
    return finished;
  }

  io::Picture drawn(const io::Picture& picture, const MeasuredMap<float>& map) const {
    if (settings_.view == VideoView::Map) return colour_picture(map, settings_.style.palette);
    auto overlay = draw_heatmap(picture, map, settings_.style);
    if (settings_.view == VideoView::Overlay) return overlay;
    return side_by_side(overlay, colour_picture(map, settings_.style.palette));
  }

  void take(const FinishedFrame& frame) {
    sink_->write(frame.frame);
    attention_.add(frame.attention);
    fixations_.add(frame.fixations);
    ++done_.frames;
    progress_.advance();
  }

  Predictor& predictor_;
  const RunSettings& settings_;
  RunPace pace_;
  std::unique_ptr<FrameSource> source_;
  double rate_;
  io::Y4mHeader output_;
  MapSmoother smoother_;
  StreamedTable attention_, fixations_;
  std::unique_ptr<FrameSink> sink_;
  Progress progress_;
  std::int64_t read_ = 0, pushed_ = 0;
  VideoDone done_;
};

}  // namespace

VideoDone run_video(Predictor& predictor, const VideoJob& job, const RunSettings& settings,
                    const RunPace& pace) {
  return VideoRun(predictor, job, settings, pace)
      .run(job.input == "-" ? "standard input" : job.input);
}

}  // namespace ubique::msinet
