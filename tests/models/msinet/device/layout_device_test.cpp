// SPDX-License-Identifier: Apache-2.0
// Files of both layouts on the device that UBIQUE_TEST_DEVICE names (or the one that auto picks):
// the map of the same weights on the CPU. A separate program, because the sham device must be
// selected before any other.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "tests/base/scratch.h"
#include "tests/models/msinet/net/network_samples.h"
#include "ubique/device/numerics.h"
#include "ubique/device/select.h"
#include "ubique/models/msinet/files/weight_files.h"
#include "ubique/models/msinet/net/model.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;

namespace {

std::optional<c10::Device> device_under_test() {
  const char* name = std::getenv("UBIQUE_TEST_DEVICE");
  try {
    const auto selected = device::select(device::parse_request(name != nullptr ? name : "auto"));
    device::apply_numerics(selected.torch_device, {.tf32 = false});
    std::printf("device under test: %s\n", selected.facts.label().c_str());
    return selected.torch_device;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device) throw;
    std::printf("skipped: %s\n", error.what());
    return std::nullopt;
  }
}

at::Tensor map_on(c10::Device device, const std::filesystem::path& path, bool channels_last) {
  const at::NoGradGuard no_gradients;
  MsiNetModel model(load_any(path));
  model.network().to(device);
  model.msinet().set_channels_last(channels_last);
  return model.msinet().forward(random_picture({1, 3, 24, 32}, 8).to(device)).cpu();
}

}  // namespace

TEST_CASE("device under test: files of both layouts give the CPU's map in both memory formats") {
  const auto device = device_under_test();
  if (!device) return;
  for (const auto mode : {Upsample::Legacy, Upsample::HalfPixel}) {
    const ScratchFolder folder;
    auto config = tiny_config();
    config.upsample = mode;
    const auto file = golden_file(config);
    export_safetensors(file, folder / "first.safetensors");
    export_safetensors(file, folder / "last.safetensors", FileLayout::ChannelsLast);
    export_keras(file, folder / "net.h5");
    const auto expected = map_on(c10::kCPU, folder / "first.safetensors", false);
    for (const auto* name : {"first.safetensors", "last.safetensors", "net.h5"}) {
      for (const bool channels_last : {false, true}) {
        CAPTURE(name);
        CAPTURE(channels_last);
        CHECK(distance(map_on(*device, folder / name, channels_last), expected) < 1e-5);
      }
    }
  }
}
