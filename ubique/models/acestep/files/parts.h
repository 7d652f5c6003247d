// SPDX-License-Identifier: Apache-2.0
// The four networks of a model, each loaded when it is first asked for and released on demand, so
// that a song can be made with one of them in memory at a time.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <memory>
#include <optional>

#include "ubique/models/acestep/files/model_folder.h"
#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"
#include "ubique/models/acestep/net/dit.h"
#include "ubique/models/acestep/net/pass_recorder.h"
#include "ubique/models/acestep/net/umt5.h"

namespace ubique::acestep {

class Parts {
 public:
  /// Loads nothing yet. `dtype` is that of the transformer; see dtype_of().
  Parts(ModelFolder folder, c10::Device device, c10::ScalarType dtype);

  const ModelFolder& folder() const { return folder_; }
  c10::Device device() const { return device_; }
  /// The text encoder overflows in f16, and samples of the codec need more bits than bf16 has: f32,
  /// or see use_half_decoder().
  c10::ScalarType dtype_of(Part part) const;

  /// The transformer's large weights in fewer bits: at once if it is there, else when it is loaded
  /// or set.
  void keep_transformer_in(kernels::QuantFormat format);

  /// The autoencoder with channels last from when it is loaded; before that.
  void use_channels_last() { channels_last_ = true; }
  /// Dcae::decode_in_half() and Vocoder::compute_in_half() from when they are loaded; before that.
  void use_half_decoder() { half_decoder_ = true; }

  // In eval mode, on the device; the text encoder's table of tokens stays in its file, mapped.
  // References are valid until the part is released.
  const Umt5& text_encoder();
  Dit& transformer();  ///< without projectors, which only training needs
  const Dcae& dcae();
  const Vocoder& vocoder();
  /// Recorded passes of the transformer, kept as long as it is.
  PassRecorder& recorder() { return recorder_; }

  /// Uses this transformer, such as a trained one, instead of the folder's.
  void set_transformer(std::shared_ptr<Dit> transformer);
  void set_text_encoder(std::shared_ptr<Umt5> text_encoder);
  bool is_loaded(Part part) const;
  void release(Part part);  ///< a transformer that was set is let go as well

 private:
  template <typename Net, typename Config>
  Net& loaded(std::shared_ptr<Net>& place, const Config& config, Part part);
  void place_transformer();

  ModelFolder folder_;
  c10::Device device_;
  c10::ScalarType dtype_;
  std::optional<kernels::QuantFormat> format_;
  bool channels_last_ = false, half_decoder_ = false;
  std::shared_ptr<Umt5> text_encoder_;
  std::shared_ptr<Dit> transformer_;
  PassRecorder recorder_;
  std::shared_ptr<Dcae> dcae_;
  std::shared_ptr<Vocoder> vocoder_;
};

}  // namespace ubique::acestep
