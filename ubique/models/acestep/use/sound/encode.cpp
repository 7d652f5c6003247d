// SPDX-License-Identifier: Apache-2.0
// Between samples on the host and tensors on the device.
#include "ubique/models/acestep/use/sound/encode.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <future>

#include "ubique/data/audio/mel.h"
#include "ubique/models/acestep/use/sound/encode_tiles.h"

namespace ubique::acestep {

at::Tensor log_mel_of_sound(const io::Audio& audio) {
  data::MelSpectrogram mel;
  std::vector<at::Tensor> channels;
  for (int i = 0; i < audio.channels; ++i) {
    auto spectrogram = mel.log_mel(audio.channel(i));
    channels.push_back(
        at::from_blob(spectrogram.values.data(), {spectrogram.rows, spectrogram.frames}, at::kFloat)
            .clone());
  }
  return at::stack(channels).unsqueeze(0);
}

at::Tensor source_latents(const Dcae& dcae, const io::Audio& audio, c10::Device device) {
  return latents_in_tiles(dcae, log_mel_of_sound(audio).to(device));
}

io::Audio decoded_sound(const Dcae& dcae, const Vocoder& vocoder, const at::Tensor& latents,
                        const DecodeOptions& options, const SoundSink& sink) {
  const auto channels = dcae.config().in_channels;
  const auto length = decoded_samples(dcae, vocoder, latents.size(-1), options.rate);
  io::Audio audio{.rate = options.rate, .channels = static_cast<int>(channels)};
  // The system gives memory page by page, which takes milliseconds: while the device computes.
  auto room = std::async(std::launch::async, [&audio, count = channels * length] {
    audio.samples.resize(static_cast<std::size_t>(count));
  });
  std::int64_t done = 0;
  decode_stream(dcae, vocoder, latents, options, [&](const at::Tensor& samples) {
    if (room.valid()) room.get();
    for (int i = 0; i < audio.channels; ++i) {
      const auto row = samples[0][i].contiguous();
      std::copy_n(row.const_data_ptr<float>(), row.numel(), audio.channel(i).data() + done);
    }
    done += samples.size(-1);
    if (sink) sink(samples);
  });
  return audio;
}

}  // namespace ubique::acestep
