// SPDX-License-Identifier: Apache-2.0
// A request made and decoded as `run acestep` does it, with the weights in training.
#include "ubique/models/acestep/train/preview.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/data/audio/pictures.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/io/audio/compressed.h"
#include "ubique/models/acestep/files/parts.h"
#include "ubique/models/acestep/use/make_song.h"

namespace ubique::acestep {
namespace {

constexpr std::size_t kKeptPreviews = 3;

SongRequest preview_request(const PreviewSettings& settings, std::uint64_t seed) {
  SongRequest request;
  request.tags = settings.tags;
  request.lyrics = settings.lyrics;
  request.seconds = settings.seconds;
  request.steps = settings.steps;
  request.guidance.scale = settings.guidance;
  // The plain null branch is the one that training drops conditions for.
  request.weak_text = request.weak_lyric = request.weak_diffusion = false;
  request.seeds = {static_cast<std::int64_t>(seed % (std::uint64_t{1} << 31U))};
  return request;
}

}  // namespace

PreviewMaker::PreviewMaker(ModelFolder folder, PreviewSettings settings, std::uint64_t seed)
    : folder_(std::move(folder)), settings_(std::move(settings)), seed_(seed) {}

io::Audio PreviewMaker::sample(AcestepModel& model) const {
  const auto inputs = read_song_inputs(preview_request(settings_, seed_), folder_);
  const auto& weights = model.dit().weights().text.bias;
  // Weights have their dtype already; the codec is too exact for a smaller one.
  const engine::Autocast plain(weights.device().type(), {});
  Parts parts(folder_, weights.device(), weights.scalar_type());
  parts.set_transformer(model.shared_dit());
  parts.set_text_encoder(model.text_encoder());
  io::Audio audio;
  SongHooks hooks;
  hooks.finished = [&](const MadeSong& made) { audio = made.audio; };
  (void)make_song(inputs, parts, {}, hooks);
  return audio;
}

void PreviewMaker::keep(const io::Audio& audio, std::int64_t epoch,
                        const std::filesystem::path& run) {
  const auto format = io::can_write(io::Compressed::OggVorbis) ? "ogg" : "wav";
  const auto file = fmt::format("previews/epoch-{}.{}", epoch + 1, format);
  make_folder(run / "previews");
  io::write_audio(run / file, audio);
  const auto caption = fmt::format("after epoch {}: {}", epoch + 1, settings_.tags);
  sounds_.insert(sounds_.begin(), {caption, format, read_file(run / file), file});
  pictures_.insert(pictures_.begin(), {caption, io::png_bytes(data::draw_spectrogram(audio))});
  if (sounds_.size() > kKeptPreviews) sounds_.pop_back();
  if (pictures_.size() > kKeptPreviews) pictures_.pop_back();
}

bool PreviewMaker::make(AcestepModel& model, std::int64_t epoch, const std::filesystem::path& run) {
  const at::NoGradGuard no_gradients;
  try {
    keep(sample(model), epoch, run);
    return true;
  } catch (const std::exception& error) {
    if (device::is_out_of_memory(error)) {
      device::empty_cache(model.dit().weights().text.bias.device());
    }
    log::warn(
        "[acestep.preview] no song to listen to after epoch {}; got \"{}\". The training goes "
        "on.",
        epoch + 1, error.what());
    return false;
  }
}

}  // namespace ubique::acestep
