// SPDX-License-Identifier: Apache-2.0
// The golden numbers of ACE-Step, with weights made by a formula, on the device under test.
#pragma once

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "tests/device.h"
#include "tests/shared.h"
#include "tests/tensors.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/models/acestep/net/dit.h"
#include "ubique/nn/layers/network.h"

namespace ubique::test {

inline std::filesystem::path acestep_folder() { return shared_folder("golden/acestep"); }

inline Json read_json(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

/// FNV-1a of a name.
inline std::uint64_t name_hash(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const unsigned char letter : name) hash = (hash ^ letter) * 0x100000001b3U;
  return hash;
}

/// Values that depend on the tensor's name and the element's index only, uniform in mean ± amp.
inline at::Tensor formula_tensor(const std::string& name, at::IntArrayRef shape, double mean,
                                 double amp, std::uint64_t seed = 11) {
  auto tensor = at::empty(shape, at::TensorOptions(at::kFloat));
  auto* values = tensor.mutable_data_ptr<float>();
  const auto start = name_hash(name) + seed * 0xD1B54A32D192ED03U;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    auto z = start + (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z ^= z >> 31;
    const auto u = static_cast<double>(z >> 40) / 16777216.0;
    values[i] = static_cast<float>(mean + amp * (2 * u - 1));
  }
  return tensor;
}

inline at::Tensor formula_input(const std::string& name, at::IntArrayRef shape,
                                double amp = 1.7320508) {
  return formula_tensor("input." + name, shape, 0, amp);
}

/// The tensor that an entry of a weights_spec.json describes.
inline at::Tensor spec_tensor(const Json& entry) {
  const auto shape = entry.at("shape").get<std::vector<std::int64_t>>();
  return formula_tensor(entry.at("name").get<std::string>(), shape, entry.value("mean", 0.0),
                        entry.at("amp").get<double>());
}

/// Fills a network by formula; tensors of the file that it lacks are skipped. On the test's device.
inline void fill_by_formula(nn::Network& network, const std::filesystem::path& spec) {
  const at::NoGradGuard no_gradients;
  auto parameters = network.named_parameters();
  std::size_t filled = 0;
  const auto json = read_json(spec);
  for (const auto& entry : json.at("tensors")) {
    auto* parameter = parameters.find(entry.at("name").get<std::string>());
    if (parameter == nullptr) continue;
    parameter->copy_(spec_tensor(entry));
    ++filled;
  }
  REQUIRE(filled == parameters.size());
  network.to(kDevice);
  network.refresh();
}

/// Tensors of a golden file on the test's device.
class Golden {
 public:
  explicit Golden(const std::filesystem::path& path) : tensors_(by_name(read_tensors(path))) {}
  bool has(const std::string& name) const { return tensors_.contains(name); }
  at::Tensor at(const std::string& name) const { return tensors_.at(name).to(kDevice); }
  const std::map<std::string, at::Tensor>& all() const { return tensors_; }

 private:
  std::map<std::string, at::Tensor> tensors_;
};

inline std::unique_ptr<acestep::Dit> golden_dit(const std::filesystem::path& config,
                                                const std::filesystem::path& spec) {
  auto dit =
      std::make_unique<acestep::Dit>(acestep::parse_dit_config(read_json(config), config.string()));
  fill_by_formula(*dit, spec);
  return dit;
}

inline acestep::DitCondition golden_condition(const Golden& golden) {
  return {.text = golden.at("in.encoder_text_hidden_states"),
          .text_mask = golden.at("in.text_attention_mask"),
          .speaker = golden.at("in.speaker_embeds"),
          .lyric_ids = golden.at("in.lyric_token_idx"),
          .lyric_mask = golden.at("in.lyric_mask")};
}

inline acestep::DitInput golden_input(const Golden& golden) {
  return {.latents = golden.at("in.hidden_states"),
          .timestep = golden.at("in.timestep"),
          .frames = golden.at("in.attention_mask")};
}

}  // namespace ubique::test
