// SPDX-License-Identifier: Apache-2.0
// Predicted memory against what was measured, and plans for the machines of the original's guide.
#include "ubique/models/codelm/net/needs.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/text/json.h"
#include "ubique/device/profile.h"
#include "ubique/models/codelm/net/model.h"
#include "ubique/plan/plan.h"

using namespace ubique;

namespace {

codelm::CodelmConfig bigcode(std::int64_t hidden, std::int64_t layers, std::int64_t heads) {
  return codelm::parse_config({{"model_type", "gpt_bigcode"},
                               {"n_embd", hidden},
                               {"n_layer", layers},
                               {"n_head", heads},
                               {"n_inner", 4 * hidden},
                               {"n_positions", 8192},
                               {"vocab_size", 49152},
                               {"multi_query", true},
                               {"activation_function", "gelu_pytorch_tanh"}},
                              "test");
}

codelm::CodelmConfig phi_2() {
  return codelm::parse_config({{"model_type", "phi"},
                               {"hidden_size", 2560},
                               {"num_hidden_layers", 32},
                               {"num_attention_heads", 32},
                               {"intermediate_size", 10240},
                               {"max_position_embeddings", 2048},
                               {"partial_rotary_factor", 0.4},
                               {"rope_theta", 10000.0},
                               {"layer_norm_eps", 1e-5},
                               {"hidden_act", "gelu_new"},
                               {"vocab_size", 51200}},
                              "test");
}

/// Gigabytes of a training step on a GPU with flash attention in bf16.
double predicted(const plan::Needs& needs, std::int64_t batch) {
  plan::MemoryChoice choice;
  choice.kind = device::Kind::Cuda;
  choice.dtype = DType::BF16;
  choice.attention = plan::Attention::Flash;
  choice.batch = batch;
  return static_cast<double>(predict_memory(needs, choice, std::int64_t{1} << 40).total) / 1e9;
}

/// A plan for adapters of rank 32 on a base in few bits, at this length; `batch` 0 = choose.
plan::Plan plan_on(const std::string& machine, const codelm::CodelmConfig& network,
                   kernels::QuantFormat base, std::int64_t length, std::int64_t batch) {
  codelm::AdapterOptions adapter;
  adapter.rank = 32;
  auto use = codelm::planned_use(network, adapter, base);
  use.length = length;
  plan::Wishes wishes;
  wishes.effective_batch = 16;
  wishes.batch = batch;
  return plan::make_plan(device::load_profile(machine).facts, {},
                         codelm::codelm_needs(network, use), wishes);
}

}  // namespace

TEST_CASE("codelm needs: predicted memory is within a tenth of what an H200 measured") {
  // Whole training of the 164 M shape and LoRA of rank 16 on the 1.1 B shape, bf16, peak in GB.
  auto whole = codelm::planned_use(bigcode(768, 20, 12), {}, {});
  whole.length = 1024;
  CHECK(predicted(codelm_needs(bigcode(768, 20, 12), whole), 16) ==
        doctest::Approx(11.2).epsilon(.1));
  whole.length = 8192;
  CHECK(predicted(codelm_needs(bigcode(768, 20, 12), whole), 2) ==
        doctest::Approx(11.2).epsilon(.1));
  const auto one_billion = bigcode(2048, 24, 16);
  auto lora = codelm::planned_use(one_billion, codelm::AdapterOptions{}, {});
  lora.length = 2048;
  CHECK(predicted(codelm_needs(one_billion, lora), 1) == doctest::Approx(6.13).epsilon(.1));
}

TEST_CASE("codelm needs: arithmetic says the same as the network itself") {
  const auto config = bigcode(256, 2, 4);
  const codelm::AdapterOptions adapter{.rank = 8};
  for (const auto* form : {"", "int8", "int4", "nf4"}) {
    CAPTURE(form);
    codelm::CodelmModel model(std::make_shared<codelm::Codelm>(config));
    model.initialize(Random(1));
    model.add_adapters(adapter, "base");
    model.quantize_base(form);
    const auto real = model.needs();
    const auto planned = codelm_needs(
        config, codelm::planned_use(config, adapter, kernels::parse_quant_format(form)));
    CHECK(planned.trainable_count() == real.trainable_count());
    REQUIRE(planned.parameters.size() == real.parameters.size());
    for (std::size_t i = 0; i < real.parameters.size(); ++i) {
      CHECK(planned.parameters[i].count == real.parameters[i].count);
      // Each layer has a table of scales to itself, which is nothing in a large one.
      CHECK(planned.parameters[i].bytes <= real.parameters[i].bytes);
      CHECK(planned.parameters[i].bytes >= 0.9 * real.parameters[i].bytes);
    }
  }
}

TEST_CASE("codelm needs: averages are one more copy, the KV cache belongs to inference") {
  const auto config = bigcode(768, 20, 12);
  auto use = codelm::planned_use(config, {}, {});
  use.length = 1024;
  const auto plain = codelm_needs(config, use);
  use.averaged = true;
  const auto averaged = codelm_needs(config, use);
  const auto extra = predicted(averaged, 1) - predicted(plain, 1);
  CHECK(extra == doctest::Approx(4 * 164.144e6 / 1e9).epsilon(0.01));

  plan::MemoryChoice run;
  run.mode = plan::Mode::Run;
  run.dtype = DType::BF16;
  run.batch = 3;
  CHECK(predict_memory(plain, run, std::int64_t{1} << 40).kv_cache == 3 * 1024 * 5120);
  run.mode = plan::Mode::Train;
  CHECK(predict_memory(plain, run, std::int64_t{1} << 40).kv_cache == 0);
}

TEST_CASE("codelm needs: the guide's machines train at the guide's lengths and batches") {
  using kernels::QuantFormat;
  struct Row {
    const char* machine;
    codelm::CodelmConfig network;
    QuantFormat base;
    std::int64_t length, batch;
  };
  for (const auto& row : {Row{"rtx2060-8g", phi_2(), QuantFormat::Int8, 512, 2},
                          Row{"rtx3070-8g", phi_2(), QuantFormat::Int8, 1024, 4},
                          Row{"m1-pro-16g", phi_2(), QuantFormat::Int8, 1024, 2},
                          Row{"rtx4080-16g", phi_2(), QuantFormat::Int8, 2048, 8},
                          Row{"rtx4080-16g", bigcode(2048, 24, 16), QuantFormat::Nf4, 4096, 8}}) {
    CAPTURE(row.machine);
    CAPTURE(row.length);
    const auto asked = plan_on(row.machine, row.network, row.base, row.length, row.batch);
    CHECK(asked.memory.fits);
    CHECK(asked.micro_batch.value == row.batch);
    // By itself the plan may take fewer at once, to recompute less; an update has as many.
    const auto chosen = plan_on(row.machine, row.network, row.base, row.length, 0);
    CHECK(chosen.memory.fits);
    CHECK(chosen.effective_batch.value == 16);
    if (asked.checkpointing.value) continue;
    CHECK(chosen.micro_batch.value >= row.batch);
  }
}
