// SPDX-License-Identifier: Apache-2.0
// Compares an adapter with a transformer before anything is attached.
#include "ubique/models/acestep/files/adapters/adapter_names.h"

#include <fmt/format.h>

#include <map>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/state_dict.h"

namespace ubique::acestep {
namespace {

/// (out, in) of each linear layer; a quantised one keeps no weight of its own.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> layer_sizes(const Dit& dit) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> sizes;
  for (const auto& [name, layer] : dit.linear_layers()) {
    const auto& quantized = layer->quantized;
    sizes[name] = quantized ? std::pair(quantized->rows, quantized->columns)
                            : std::pair(layer->weight.size(0), layer->weight.size(1));
  }
  return sizes;
}

bool is_unread(const std::string& layer) {
  for (const char* part : {".add_q_proj", ".add_k_proj", ".add_v_proj", ".to_add_out"}) {
    if (layer.ends_with(part)) return true;
  }
  return layer.starts_with("projectors.");
}

std::string listed(const std::vector<std::string>& all) {
  constexpr std::size_t kShown = 4;
  const std::vector<std::string> first(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kShown)));
  const auto more = all.size() - first.size();
  return join(first, "; ") + (more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace

std::vector<std::string> fitting_layers(const Dit& dit, const AdapterFile& file) {
  const auto sizes = layer_sizes(dit);
  std::vector<std::string> fitting, wrong, unread;
  for (const auto& layer : file.options.targets) {
    const auto found = sizes.find(layer);
    const auto in = engine::find_tensor(file.tensors, layer + kNameOfA).size(1);
    const auto out = engine::find_tensor(file.tensors, layer + kNameOfB).size(0);
    if (found == sizes.end()) {
      (is_unread(layer) ? unread : wrong)
          .push_back(fmt::format("{} is no layer of it", printable(layer)));
    } else if (found->second != std::pair(out, in)) {
      wrong.push_back(fmt::format("{} is for {}x{}, the model has {}x{}", printable(layer), out, in,
                                  found->second.first, found->second.second));
    } else {
      fitting.push_back(layer);
    }
  }
  check(wrong.empty(), ErrorKind::Input,
        "[acestep.adapter] {} is an adapter for another model; {}. Expected the model that it was "
        "trained on.",
        file.source, listed(wrong));
  check(!fitting.empty(), ErrorKind::Input,
        "[acestep.adapter] {} adapts only layers that no pass reads; expected some of attention.",
        file.source);
  if (!unread.empty()) {
    log::info("{}: {} layers that no pass reads are left out", file.source, unread.size());
  }
  return fitting;
}

}  // namespace ubique::acestep
