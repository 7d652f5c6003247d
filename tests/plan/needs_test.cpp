// SPDX-License-Identifier: Apache-2.0
// Needs from YAML: defaults, every key, refused values; probe cases.
#include "ubique/plan/needs.h"

#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

const std::string kLeast =
    "name: tiny\n"
    "parameters: [{count: 10}]\n"
    "activations: {run: 5}\n";

Needs needs_from(const std::string& yaml) {
  auto config = Config::from_text(yaml, "needs.yaml");
  config.set_environment({});
  auto needs = read_needs(config);
  config.finish();
  return needs;
}

std::string needs_error(const std::string& yaml) {
  return test::refusal_of(ErrorKind::Usage, [&] { needs_from(yaml); });
}

}  // namespace

TEST_CASE("needs: the smallest file, and its defaults") {
  const auto needs = needs_from(kLeast);
  CHECK(needs.parameter_count() == 10);
  CHECK(needs.trainable_count() == 10);
  CHECK_FALSE(needs.can_train());
  CHECK(needs.optimizer_states == 2);
  CHECK(needs.effective_batch == 1);
  CHECK_FALSE(needs.tolerates_bf16);
  CHECK(needs.fixed_shapes);
}

TEST_CASE("needs: every key") {
  const auto needs = needs_from(R"(
name: full
family: mine
parameters:
  - {name: base, count: 1000, trainable: false, bytes: 0.5}
  - {name: head, count: 7}
activations: {saved: 100, saved_f32: 10, loss: 1, transient: 20, run: 5, largest: 50}
flops: {run: 1e9, train: 2.5e9}
inputs: [{name: image, shape: [3, 4], dtype: u8}]
convs: [{kind: conv3d, in: 2, out: 3, kernel: 5, dilations: [1, 4], length: 9}]
attention:
  - {layers: 6, heads: 8, kv_heads: 2, head_dim: 32, queries: 10, keys: 20, window: 4,
     causal: true, mask: true, dropout: true}
ops: [matmul, cumsum]
probes: [{op: matmul, shape: [4, 4], out_channels: 4}]
tolerates: [fp16, bfloat16]
dropout: true
fixed_shapes: false
graph_capturable: true
optimizer: sgd_momentum
weight_averages: 1
batch: {effective: 32, run: 4, busy: 2, max: 16}
checkpointing: {supported: true, kept: 0.25, extra: 0.3}
workspace_cuda: 1GiB
)");
  CHECK(needs.parameter_count() == 1007);
  CHECK(needs.trainable_count() == 7);
  CHECK(needs.activations.loss == 1);
  CHECK(needs.flops_train == 2.5e9);
  CHECK(needs.inputs[0].dtype == DType::U8);
  REQUIRE(needs.convs.size() == 2);
  CHECK(needs.convs[1].dilation == 4);
  CHECK(needs.has_conv(3));
  CHECK_FALSE(needs.has_conv(2));
  CHECK(needs.attention[0].kv_heads == 2);
  CHECK(needs.attention[0].keys == 20);
  CHECK(needs.uses_op("cumsum"));
  CHECK(needs.tolerates_f16);
  CHECK(needs.optimizer_states == 1);
  CHECK(needs.max_batch == 16);
  CHECK(needs.checkpointing.kept == 0.25);
  CHECK(needs.workspace_cuda == std::int64_t{1} << 30);
}

TEST_CASE("needs: keys and heads default to the queries' own") {
  const auto needs = needs_from(kLeast + "attention: [{heads: 8, head_dim: 64, queries: 97}]\n");
  CHECK(needs.attention[0].kv_heads == 8);
  CHECK(needs.attention[0].keys == 97);
}

TEST_CASE("needs: invalid values are refused with file, line and expectation") {
  struct Bad {
    const char* yaml;
    const char* word;
  };
  const Bad kBad[] = {
      {"optimizer: adamx\n", "Did you mean 'adamw'?"},
      {"activation: {run: 5}\n", "Did you mean 'activations'?"},
      {"convs: [{kind: conv4d, in: 1, out: 1}]\n", "conv1d, conv2d, conv3d"},
      {"convs: [{kind: conv2d, in: 0, out: 1}]\n", "positive"},
      {"convs: [{kind: conv2d, out: 1}]\n", "in is missing"},
      {"attention: [{heads: 5, kv_heads: 2, head_dim: 8, queries: 4}]\n",
       "kv_heads must divide heads"},
      {"attention: [{heads: 4, head_dim: 8, queries: 0}]\n", "positive"},
      {"tolerates: [int8]\n", "f16 or bf16"},
      {"ops: [matmull]\n", "Did you mean 'matmul'?"},
      {"inputs: [{shape: [3, -1]}]\n", "positive extents"},
      {"inputs: [{shape: [3], dtype: float9}]\n", "unknown dtype"},
      {"batch: {effective: 0}\n", "batch.effective"},
      {"batch: {effective: 99999999999}\n", "out of range"},
      {"checkpointing: {supported: true, kept: 1.5}\n", "at most 1"},
      {"checkpointing: {supported: true, kept: 0}\n", "checkpointing.kept"},
      {"optimizer_states: -1\n", "optimizer_states"},
      {"workspace_cuda: many\n", "workspace_cuda"},
      {"flops: {run: .inf}\n", "flops.run"},
      {"dropout: maybe\n", "true or false"},
  };
  for (const auto& bad : kBad) {
    CAPTURE(bad.yaml);
    const auto message = needs_error(kLeast + bad.yaml);
    CAPTURE(message);
    CHECK(contains(message, bad.word));
  }
}

TEST_CASE("needs: parameters must be there and make sense") {
  CHECK(contains(needs_error("name: x\nactivations: {run: 1}\n"), "no parameters"));
  CHECK(contains(needs_error("name: x\nparameters: [{count: 0}]\nactivations: {run: 1}\n"),
                 "positive count"));
  CHECK(contains(
      needs_error("name: x\nparameters: [{count: 5, bytes: 0.5}]\nactivations: {run: 1}\n"),
      "trainable and packed"));
  CHECK(
      contains(needs_error("name: x\nparameters: 5\nactivations: {run: 1}\n"), "list of mappings"));
  CHECK(contains(needs_error("parameters: [{count: 5}]\nactivations: {run: 1}\n"),
                 "name is missing"));
  CHECK(contains(needs_error("name: x\nparameters: [{count: 5}]\nactivations: {saved: 1}\n"),
                 "run is missing"));
  CHECK(contains(needs_error("name: x\nparameters: [{count: 5}]\nactivations: {run: -3}\n"),
                 "activations.run"));
}

TEST_CASE("needs: a missing file and a file that is no YAML are Input errors") {
  CHECK_THROWS_AS(read_needs_file("/no/such/file.yaml"), Error);
  try {
    Config::from_text("a: [", "broken.yaml");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Input);
  }
}

TEST_CASE("needs: training is refused if the file does not describe it") {
  CHECK(contains(refusal(ErrorKind::Usage, machine("h200"), {}, needs_from(kLeast), ""),
                 "--mode run"));
}

TEST_CASE("needs: the environment does not change what a model needs") {
  setenv("UBIQUE_NAME", "other", 1);
  const auto path = std::string(UBIQUE_SOURCE_DIR) + "/configs/needs/msinet.yaml";
  CHECK(read_needs_file(path).name == "msinet");
  unsetenv("UBIQUE_NAME");
}

TEST_CASE("needs: the five shipped files have the parameters of the published models") {
  const std::pair<const char*, std::int64_t> kCounts[] = {
      {"meshnet26", 147474},
      {"msinet", 24934209},
      {"codelm-starcoder2-3b-lora", 3030371328 + 47677440},
      {"acestep", 3130088768},
      {"trm-sudoku", 6828034},
  };
  for (const auto& [name, count] : kCounts) {
    CAPTURE(name);
    const auto path = fmt::format("{}/configs/needs/{}.yaml", UBIQUE_SOURCE_DIR, name);
    CHECK(read_needs_file(path).parameter_count() == count);
  }
}

TEST_CASE("probe cases: channels and dilations as they are, extents scaled down") {
  auto needs = conv_model(3);
  needs.convs = {{.dims = 3, .in = 26, .out = 26, .kernel = 3, .dilation = 16}};
  needs.attention = {
      {.heads = 24, .kv_heads = 2, .head_dim = 128, .queries = 4096, .keys = 4096, .causal = true}};
  const auto cases = probe_cases(needs);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].op == "conv3d");
  CHECK(cases[0].shape == std::vector<std::int64_t>{1, 26, 19, 19, 19});  // every tap reads data
  CHECK(cases[0].dilation == 16);
  CHECK(cases[0].dtypes.size() == 3);
  CHECK(cases[0].layouts.size() == 2);
  CHECK(cases[1].op == "attention");
  CHECK(cases[1].shape == std::vector<std::int64_t>{1, 70});
  CHECK(cases[1].kv_heads == 2);
}

TEST_CASE("probe cases: a huge kernel or dilation in a model's file makes no long probe") {
  for (const auto& conv : {ConvNeed{.dims = 3, .in = 26, .out = 26, .kernel = 7, .dilation = 16},
                           ConvNeed{.dims = 3, .in = 500, .out = 500, .kernel = 99, .dilation = 9},
                           ConvNeed{.dims = 2, .in = 8, .out = 8, .kernel = 3, .dilation = 9000},
                           ConvNeed{.dims = 2, .in = 9000, .out = 9000, .kernel = 3}}) {
    auto needs = conv_model(conv.dims);
    needs.convs = {conv};
    const auto made = probe_cases(needs).at(0);
    CHECK(probe::conv_work(made) <= 1e9);
    CHECK(made.kernel == conv.kernel);
    CHECK(made.dilation == conv.dilation);
    CHECK(made.shape.back() >= 9);
  }
}
