// SPDX-License-Identifier: Apache-2.0
// Code language models as ONNX graphs: every layout computes what the network does, with its KV
// caches; tests/peers completes with them in ONNX Runtime.
#include "ubique/models/codelm/files/decoder_graph.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/export/onnx_run.h"
#include "ubique/export/write.h"

using namespace ubique;
using codelm::CodelmModel;

namespace {

/// A small network of an architecture, and what it has besides.
Json layout(const char* type, Json more = Json::object()) {
  Json json = {{"model_type", type},       {"vocab_size", 50},
               {"hidden_size", 32},        {"num_hidden_layers", 2},
               {"num_attention_heads", 4}, {"num_key_value_heads", 2},
               {"intermediate_size", 48},  {"max_position_embeddings", 40}};
  if (json["model_type"] == "gpt_bigcode") {
    json = {{"model_type", type}, {"vocab_size", 50}, {"n_embd", 32},     {"n_layer", 2},
            {"n_head", 4},        {"n_inner", 48},    {"n_positions", 40}};
  }
  json.update(more);
  return json;
}

std::vector<Json> all_layouts() {
  return {layout("gpt_bigcode"),
          layout("gpt_bigcode", {{"multi_query", false}}),
          layout("starcoder2", {{"sliding_window", 5}}),
          layout("phi", {{"num_key_value_heads", 4}, {"partial_rotary_factor", 0.5}}),
          layout("llama"),
          layout("qwen2",
                 {{"use_sliding_window", true}, {"sliding_window", 4}, {"max_window_layers", 1}}),
          layout("qwen3", {{"head_dim", 16}, {"tie_word_embeddings", true}})};
}

CodelmModel layout_model(const Json& json) {
  const auto config = codelm::parse_config(json, "test");
  CodelmModel model(std::make_shared<codelm::Codelm>(config));
  std::uint64_t stream = 0;
  for (auto& parameter : model.codelm().parameters()) {  // no norm is 1, no bias 0
    const at::NoGradGuard no_gradients;
    Random(5, stream++)
        .fill_normal(
            {parameter.mutable_data_ptr<float>(), static_cast<std::size_t>(parameter.numel())},
            0.1F, 0.3F);
  }
  return model;
}

std::map<std::string, at::Tensor> tensors_of(const std::vector<io::HostTensor>& list) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& each : list) tensors[each.name] = engine::torch_tensor(each);
  return tensors;
}

}  // namespace

TEST_CASE(
    "decoder graph: every layout computes the network's logits and caches, in f32, f16 and "
    "int8") {
  const test::ScratchFolder folder;
  int count = 0;
  for (const auto& json : all_layouts()) {
    CAPTURE(json_text(json));
    auto model = layout_model(json);
    const auto exported = codelm::decoder_graph_export(model);
    CHECK(exported.outputs.size() == 5);
    for (const auto& [options, most] :
         std::vector<std::pair<exporting::OnnxOptions, double>>{{{DType::F32}, 1e-5},
                                                                {{DType::F16}, 1e-2},
                                                                {{DType::F16, true}, 1e-2},
                                                                {{DType::I8}, 0.3}}) {
      const auto path = folder / fmt::format("net{}.onnx", count++);
      const auto checked = exporting::export_onnx(exported, options, path);
      CHECK(checked.difference < most);
      CHECK(checked.decisions == "next tokens");
    }
  }
}

TEST_CASE("decoder graph: names and shapes are optimum's, and a cache may be empty") {
  const at::NoGradGuard no_gradients;
  auto model = layout_model(layout("starcoder2", {{"sliding_window", 5}}));
  const auto exported = codelm::decoder_graph_export(model);
  const auto file = exporting::to_onnx(exported.graph, {DType::F16});
  std::vector<std::string> inputs, outputs;
  for (const auto& value : file.inputs) inputs.push_back(value.name);
  for (const auto& value : file.outputs) outputs.push_back(value.name);
  CHECK(inputs == std::vector<std::string>{"input_ids", "attention_mask", "position_ids",
                                           "past_key_values.0.key", "past_key_values.0.value",
                                           "past_key_values.1.key", "past_key_values.1.value"});
  CHECK(outputs == std::vector<std::string>{"logits", "present.0.key", "present.0.value",
                                            "present.1.key", "present.1.value"});
  CHECK(file.inputs[0].dtype == DType::I64);
  CHECK(file.inputs[3].dtype == DType::F32);
  CHECK(exporting::to_onnx(exported.graph, {DType::F16, true}).inputs[3].dtype == DType::F16);
  CHECK((file.inputs[3].shape[1] == io::OnnxExtent(std::int64_t{2})));
  CHECK((file.inputs[3].shape[2] == io::OnnxExtent(std::string("past"))));

  const auto ids = at::arange(9, at::kLong).unsqueeze(0);
  std::map<std::string, at::Tensor> values = {
      {"input_ids", ids}, {"attention_mask", at::ones({1, 9}, at::kLong)}, {"position_ids", ids}};
  for (std::size_t i = 3; i < inputs.size(); ++i) values[inputs[i]] = at::zeros({1, 2, 0, 8});
  const auto made = exporting::run_onnx(exporting::to_onnx(exported.graph), values);
  const auto expected = model.codelm().logits(model.codelm().forward(ids, ids, {}, {}));
  CHECK((made.at("logits") - expected).abs().max().item<double>() < 1e-4);
}

TEST_CASE("decoder graph: a graph that computes something else is not kept") {
  const test::ScratchFolder folder;
  auto model = layout_model(layout("llama"));
  auto exported = codelm::decoder_graph_export(model);
  for (auto& step : exported.graph.steps) {
    if (auto* mask = std::get_if<engine::GraphCausalMask>(&step.op)) mask->window = 3;
  }
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Parity,
                       [&] { exporting::export_onnx(exported, {}, folder / "net.onnx"); }),
      "does not compute what the model does"));
  CHECK(!std::filesystem::exists(folder / "net.onnx"));
  const auto inputs = tensors_of(exported.inputs);
  CHECK(inputs.at("input_ids").size(1) + inputs.at("past_key_values.0.key").size(2) ==
        inputs.at("attention_mask").size(1));
}
