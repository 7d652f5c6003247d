// SPDX-License-Identifier: Apache-2.0
// The ledger counts ops, transfers and fallbacks.
#include <doctest/doctest.h>

#include "device.h"

using namespace ubique;
using namespace ubique::test;

TEST_CASE("sham ledger: ops are counted by name") {
  const auto device = sham_device();
  const auto x = at::ones({4, 4}, device);
  reset_ledger();
  (void)at::mm(x, x);
  (void)at::mm(x, x).relu();
  (void)x.view({2, 8}).t();
  CHECK(ledger_total("aten::mm") == 2);
  CHECK(ledger_total("aten::relu") + ledger_total("aten::clamp_min") == 1);
  CHECK(ledger_total("ops") == 3);
  CHECK(ledger_total("uploads") + ledger_total("downloads") == 0);
}

TEST_CASE("sham ledger: bytes are counted both ways") {
  const auto device = sham_device();
  const auto here = at::ones({100});
  reset_ledger();
  const auto there = here.to(device);
  CHECK(ledger_total("upload_bytes") == 400);
  (void)there.clone();
  CHECK(ledger_total("uploads") == 1);
  (void)there.cpu();
  CHECK(ledger_total("download_bytes") == 400);
  (void)there[3].item<float>();
  CHECK(ledger_total("downloads") == 2);
  CHECK(ledger_total("download_bytes") == 404);
}

TEST_CASE(
    "sham ledger: ops that Metal lacks are fallbacks, and a list of one's own replaces them") {
  const auto device = sham_device();
  const auto x = at::ones({1, 1, 4, 4, 4}, device);
  reset_ledger();
  (void)at::relu(x);
  CHECK(ledger_total("fallbacks") == 0);
  (void)at::adaptive_max_pool3d(x, {2, 2, 2});
  CHECK(ledger_total("fallbacks") == 1);
  CHECK(ledger_total("fallback_bytes") >= 4 * 64 + 12 * 8);
  const Told told("fallback=aten::mm");
  reset_ledger();
  (void)at::adaptive_max_pool3d(x, {2, 2, 2});
  CHECK(ledger_total("fallbacks") == 0);
  (void)at::mm(at::ones({2, 2}, device), at::ones({2, 2}, device));
  CHECK(ledger_total("fallbacks") == 1);
}

TEST_CASE("sham ledger: its text names ops, transfers and fallbacks") {
  const auto device = sham_device();
  reset_ledger();
  (void)at::adaptive_max_pool3d(at::ones({1, 1, 4, 4, 4}).to(device), {2, 2, 2});
  const auto text = sham_backend().ledger();
  INFO(text);
  CHECK(text.find("host to device 256 B in 1 copies") != std::string::npos);
  CHECK(text.find("1 fallbacks to the CPU") != std::string::npos);
  CHECK(text.find("aten::adaptive_max_pool3d") != std::string::npos);
}
