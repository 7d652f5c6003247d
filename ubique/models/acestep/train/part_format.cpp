// SPDX-License-Identifier: Apache-2.0
// The part is written as the original's file and read back.
#include "ubique/models/acestep/train/part_format.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/models/acestep/files/weights.h"
#include "ubique/models/acestep/files/write_model.h"
#include "ubique/models/acestep/net/config/config_json.h"
#include "ubique/models/acestep/net/model.h"
#include "ubique/models/acestep/train/codec_model.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

template <typename Net, typename Config>
void write_part_checked(Net& network, const Config& config, Part part, const fs::path& folder,
                        c10::ScalarType dtype) {
  engine::write_checked(folder, "acestep.export", [&] {
    write_part(network, config_json(config), part, folder, dtype);
    Net again(config);
    read_weights(again, folder / weights_name(part));
    const at::NoGradGuard no_gradients;
    for (const auto& item : network.named_parameters()) {
      const auto wanted = item.value().to(at::kCPU, at::kFloat);
      const auto error = (again.named_parameters()[item.key()] - wanted).abs().max();
      // Weight norm is stored as two rounded factors.
      const double tolerance = dtype == at::kFloat ? 1e-6 : dtype == at::kHalf ? 2e-3 : 1.6e-2;
      const auto most = wanted.abs().max().template item<double>() * tolerance + 1e-7;
      check(error.template item<double>() <= most, ErrorKind::Parity,
            "[acestep.export] the tensor {} differs by {} when it is read back, expected at most "
            "{}.",
            item.key(), error.template item<double>(), most);
    }
  });
}

void write_model_part(engine::Model& model, const fs::path& path, const Config& config) {
  const auto dtype = named_dtype(config.get<std::string>("weights_dtype", "float16"));
  if (auto* dcae = dynamic_cast<DcaeModel*>(&model)) {
    return write_part_checked(dcae->dcae(), dcae->dcae().config(), Part::Dcae, path, dtype);
  }
  if (auto* vocoder = dynamic_cast<VocoderModel*>(&model)) {
    return write_part_checked(vocoder->vocoder(), vocoder->vocoder().config(), Part::Vocoder, path,
                              dtype);
  }
  auto* whole = dynamic_cast<AcestepModel*>(&model);
  check(whole != nullptr, ErrorKind::Internal, "[acestep.export] the model is of another family.");
  write_part_checked(whole->dit(), whole->dit().config(), Part::Transformer, path, dtype);
}

}  // namespace

engine::Format part_format() {
  return {.name = "part",
          .extensions = {},
          .options = {{"--weights-dtype", "weights_dtype", "NAME",
                       "float32, bfloat16 or float16 (float16)"}},
          .write = write_model_part};
}

}  // namespace ubique::acestep
