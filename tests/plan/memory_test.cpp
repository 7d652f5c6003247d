// SPDX-License-Identifier: Apache-2.0
// The memory model against measured or independently derived figures.
#include <cmath>

#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr std::int64_t kPlenty = std::int64_t{1} << 45;

Needs shipped(const std::string& name) {
  return read_needs_file(std::string(UBIQUE_SOURCE_DIR) + "/configs/needs/" + name);
}

MemoryParts train_on_cuda(const Needs& needs, DType dtype, Attention attention,
                          bool checkpointing = false) {
  return predict_memory(
      needs, {Mode::Train, device::Kind::Cuda, dtype, attention, checkpointing, 1}, kPlenty);
}

void check_near(std::int64_t bytes, double gib, double share) {
  CHECK(std::abs(static_cast<double>(bytes) / kGiB - gib) <= share * gib);
}

}  // namespace

TEST_CASE(
    "memory: MeshNet-26 saves 14.6 GiB of activations in f16 and 29.3 GiB in f32, within 2 %") {
  const auto needs = shipped("meshnet26.yaml");
  check_near(train_on_cuda(needs, DType::F16, Attention::None).activations, 14.6, 0.02);
  check_near(train_on_cuda(needs, DType::F32, Attention::None).activations, 29.3, 0.02);
}

TEST_CASE("memory: MeshNet-26 peaks at the 24.9 GiB that PyTorch took on an H200, within 2 %") {
  const auto needs = shipped("meshnet26.yaml");
  check_near(train_on_cuda(needs, DType::F16, Attention::None).total, 24.9, 0.02);
}

TEST_CASE("memory: vendor kernels get the rest of a small card's memory and no more") {
  const auto needs = shipped("meshnet26.yaml");
  const MemoryChoice choice{Mode::Train, device::Kind::Cuda, DType::F16, Attention::None, false, 1};
  const auto free = predict_memory(needs, choice, kPlenty);
  const auto required = free.total - needs.workspace_cuda;
  const auto tight = predict_memory(needs, choice, required + 1000);
  CHECK(tight.fits);
  CHECK(tight.total == required + 1000);
  CHECK_FALSE(predict_memory(needs, choice, required - 1).fits);
}

TEST_CASE("memory: a 3B LoRA step takes the 9.7 GB that LitGPT measured, within 10 %") {
  const auto needs = shipped("codelm-starcoder2-3b-lora.yaml");
  check_near(train_on_cuda(needs, DType::BF16, Attention::Flash).total, 9.7e9 / kGiB, 0.10);
  check_near(train_on_cuda(needs, DType::BF16, Attention::Flash).weights, 6.1e9 / kGiB, 0.06);
}

TEST_CASE("memory: TRM at batch 768 keeps about 40 GB for its gradients, 3 GB with recomputation") {
  const auto needs = shipped("trm-sudoku.yaml");
  MemoryChoice choice{Mode::Train, device::Kind::Cuda, DType::BF16, Attention::Flash, false, 768};
  check_near(predict_memory(needs, choice, kPlenty).activations, 42e9 / kGiB, 0.05);
  choice.checkpointing = true;
  check_near(predict_memory(needs, choice, kPlenty).activations, 3e9 / kGiB, 0.05);
}

TEST_CASE("memory: ACE-Step's live weights are 6.3 GB in half precision and 12.5 GB in f32") {
  const auto needs = shipped("acestep.yaml");
  MemoryChoice choice{Mode::Run, device::Kind::Mps, DType::F16, Attention::Efficient, false, 1};
  check_near(predict_memory(needs, choice, kPlenty).weights, 6.3e9 / kGiB, 0.02);
  choice.dtype = DType::F32;
  check_near(predict_memory(needs, choice, kPlenty).weights, 12.5e9 / kGiB, 0.02);
}

TEST_CASE("memory: MSI-Net's weights, gradients and Adam are sixteen bytes per parameter in f32") {
  const auto needs = shipped("msinet.yaml");
  const auto parts = train_on_cuda(needs, DType::F32, Attention::None);
  CHECK(parts.weights + parts.gradients + parts.optimizer == 24934209LL * 16);
}

TEST_CASE("memory: autocast keeps f32 masters and adds half-precision copies of what is trained") {
  auto needs = small_model();
  needs.parameters = {{.name = "base", .count = 1000, .trainable = false},
                      {.name = "adapter", .count = 10},
                      {.name = "packed", .count = 100, .trainable = false, .bytes = 0.5}};
  CHECK(train_on_cuda(needs, DType::BF16, Attention::None).weights == 1000 * 2 + 10 * (4 + 2) + 50);
  CHECK(train_on_cuda(needs, DType::F32, Attention::None).weights == 1000 * 4 + 10 * 4 + 50);
  CHECK(train_on_cuda(needs, DType::BF16, Attention::None).gradients == 40);
  CHECK(train_on_cuda(needs, DType::BF16, Attention::None).optimizer == 80);
  const MemoryChoice run{Mode::Run, device::Kind::Cuda, DType::BF16, Attention::None, false, 1};
  const auto parts = predict_memory(needs, run, kPlenty);
  CHECK(parts.weights == 1000 * 2 + 10 * 2 + 50);
  CHECK(parts.gradients == 0);
  CHECK(parts.optimizer == 0);
}

TEST_CASE("memory: scores of attention are written where the kernel writes them") {
  CHECK_FALSE(writes_scores(device::Kind::Cuda, Attention::Flash));
  CHECK_FALSE(writes_scores(device::Kind::Cuda, Attention::Efficient));
  CHECK_FALSE(writes_scores(device::Kind::Cpu, Attention::Flash));
  CHECK(writes_scores(device::Kind::Cuda, Attention::Math));
  CHECK(writes_scores(device::Kind::Mps, Attention::Efficient));
  CHECK_FALSE(writes_scores(device::Kind::Mps, Attention::None));
  const auto needs = attention_model();
  const auto flash = train_on_cuda(needs, DType::BF16, Attention::Flash);
  const auto math = train_on_cuda(needs, DType::BF16, Attention::Math);
  CHECK(math.activations - flash.activations ==
        2LL * 4 * 128 * 128 * 2);  // layers x heads x T x T, bf16
}

TEST_CASE("memory: huge numbers saturate instead of overflowing") {
  auto needs = small_model();
  needs.activations.saved = std::int64_t{1} << 62;
  const auto parts = predict_memory(
      needs, {Mode::Train, device::Kind::Cpu, DType::F64, Attention::None, false, 1 << 20},
      kPlenty);
  CHECK(parts.total > (std::int64_t{1} << 62));
  CHECK_FALSE(parts.fits);
}
