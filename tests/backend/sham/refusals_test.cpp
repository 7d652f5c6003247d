// SPDX-License-Identifier: Apache-2.0
// What the device refuses, and its error messages.
#include <c10/core/GradMode.h>
#include <doctest/doctest.h>

#include "device.h"

using namespace ubique::test;

TEST_CASE("sham: tensors of two devices do not mix") {
  const auto device = sham_device();
  const auto here = at::ones({2, 2}), there = here.to(device);
  CHECK(there.device().type() == c10::DeviceType::MPS);
  CHECK(error_of([&] { (void)(here + there); }).find("device") != std::string::npos);
  CHECK(error_of([&] { (void)at::mm(there, here); }).find("device") != std::string::npos);
  CHECK(error_of([&] { (void)at::cat({there, here}); }).find("device") != std::string::npos);
  CHECK(error_of([&] { (void)at::conv1d(there.unsqueeze(0), here.unsqueeze(0)); }).find("device") !=
        std::string::npos);
  CHECK(error_of([&] { (void)at::layer_norm(there, {2}, here[0]); }).find("device") !=
        std::string::npos);
  CHECK(error_of([&] { at::mm_out(const_cast<at::Tensor&>(here), there, there); }) != "");
}

TEST_CASE("sham: a CPU scalar may be mixed with device tensors") {
  const auto device = sham_device();
  const auto sum = at::ones({2}, device) * 2.5 + at::scalar_tensor(1);
  CHECK(sum.device() == device);
  CHECK(sum.cpu()[1].item<float>() == 3.5F);
}

TEST_CASE("sham: float64 and complex are always refused") {
  const auto device = sham_device();
  CHECK(error_of([&] { (void)at::ones({2}, at::kDouble).to(device); }).find("float64") !=
        std::string::npos);
  CHECK(error_of([&] { (void)at::ones({2}, device).to(at::kDouble); }).find("float64") !=
        std::string::npos);
  CHECK(error_of([&] { (void)at::ones({2}, device).sum(at::kDouble); }).find("float64") !=
        std::string::npos);
  CHECK(error_of([&] {
          (void)at::empty({2}, at::dtype(at::kComplexFloat).device(device));
        }).find("Complex") != std::string::npos);
  CHECK(error_of([&] { (void)at::fft_rfft(at::ones({8}, device)); }).find("Complex") !=
        std::string::npos);
}

TEST_CASE("sham: bf16 and fp16 are refused if the settings say so") {
  const auto device = sham_device();
  const auto there = at::ones({2}, device);
  CHECK(there.to(at::kBFloat16).cpu()[0].item<float>() == 1);
  const Told told("refuse=bf16");
  CHECK(error_of([&] { (void)there.to(at::kBFloat16); }).find("BFloat16") != std::string::npos);
  CHECK(error_of([&] { (void)at::ones({2}, at::kBFloat16).to(device); }) != "");
  CHECK(error_of([&] { (void)there.to(at::kHalf); }) == "");
  const Told other("refuse=fp16");
  CHECK(error_of([&] { (void)there.to(at::kHalf); }).find("Half") != std::string::npos);
}

TEST_CASE("sham: a listed op is refused, whether it is one kernel or made of others") {
  const auto device = sham_device();
  const auto x = at::ones({4, 4}, device).requires_grad_();
  const Told told("refuse=op:aten::cumsum,op:linear,op:scaled_dot_product_attention");
  CHECK(error_of([&] { (void)x.cumsum(0); }).find("aten::cumsum") != std::string::npos);
  CHECK(error_of([&] { (void)at::linear(x, x); }).find("aten::linear") != std::string::npos);
  const c10::NoGradGuard no_grad;
  CHECK(error_of([&] { (void)at::linear(x, x); }).find("aten::linear") != std::string::npos);
  const auto q = x.view({1, 1, 4, 4});
  CHECK(error_of([&] { (void)at::scaled_dot_product_attention(q, q, q); }) != "");
  CHECK(error_of([&] { (void)at::mm(x, x); }) == "");
  CHECK_THROWS_AS((void)x.cumsum(0), c10::NotImplementedError);
}

TEST_CASE("sham: a buffer of 2^32 bytes is refused before it is allocated") {
  const auto device = sham_device();
  const auto before = c10::getDeviceAllocator(device.type())->getDeviceStats(0);
  const auto options = at::dtype(at::kFloat).device(device);
  CHECK(error_of([&] { (void)at::empty({1LL << 30}, options); }).find("Invalid buffer size") !=
        std::string::npos);
  CHECK(error_of([&] { (void)at::empty_strided({2}, {1LL << 30}, options); }) != "");
  const auto row = at::ones({1, 1 << 16}, options);
  CHECK(error_of([&] { (void)(row + row.t()); }).find("Invalid buffer size") != std::string::npos);
  // A convolution's result is refused by its shape: computing it would take minutes.
  const auto image = at::ones({1, 1, 4096, 4096}, options);
  const auto kernels = at::ones({64, 1, 1, 1}, options);
  CHECK(error_of([&] { (void)at::conv2d(image, kernels); }).find("Invalid buffer size") !=
        std::string::npos);
  const auto after = c10::getDeviceAllocator(device.type())->getDeviceStats(0);
  CHECK(after.reserved_bytes[0].peak < before.reserved_bytes[0].peak + (1LL << 28));
}

TEST_CASE("sham: max_buffer moves the limit") {
  const auto device = sham_device();
  const Told told("max_buffer=1KiB");
  const auto options = at::dtype(at::kFloat).device(device);
  CHECK(error_of([&] { (void)at::empty({255}, options); }) == "");
  CHECK(error_of([&] { (void)at::empty({256}, options); }).find("1.0 KiB") != std::string::npos);
}

TEST_CASE("sham: memory beyond its limit is an out-of-memory error as Metal words it") {
  const auto device = sham_device();
  const auto options = at::dtype(at::kFloat).device(device);
  c10::getDeviceAllocator(device.type())->emptyCache();
  const Told told("memory=1MiB");
  const auto held = at::empty({100 * 1024}, options);
  CHECK_THROWS_AS((void)at::empty({200 * 1024}, options), c10::OutOfMemoryError);
  CHECK(error_of([&] {
          (void)at::empty({200 * 1024}, options);
        }).find("MPS backend out of memory (") != std::string::npos);
  // Results of CPU kernels are counted too, not only what is allocated by name.
  const auto input = at::ones({1, 1, 60 * 1024}, options);
  const auto kernels = at::ones({4, 1, 1}, options);
  CHECK_THROWS_AS((void)at::conv1d(input, kernels), c10::OutOfMemoryError);
  CHECK(at::empty({50 * 1024}, options).defined());
}
