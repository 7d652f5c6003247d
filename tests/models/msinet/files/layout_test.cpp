// SPDX-License-Identifier: Apache-2.0
// Files for channels first and last: the same values in another axis order, and the same map.
#include "tests/base/scratch.h"
#include "tests/models/msinet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/arrays/hdf5.h"
#include "ubique/models/msinet/files/weight_files.h"
#include "ubique/models/msinet/net/model.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;

namespace {

constexpr auto kFirst = FileLayout::ChannelsFirst;
constexpr auto kLast = FileLayout::ChannelsLast;

at::Tensor map_of(const std::filesystem::path& path, bool channels_last) {
  const at::NoGradGuard no_gradients;
  MsiNetModel model(load_any(path));
  model.msinet().set_channels_last(channels_last);
  const auto format = channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  for (auto& parameter : model.network().parameters()) {
    if (parameter.dim() == 4) parameter.set_data(parameter.detach().contiguous(format));
  }
  return model.msinet().forward(random_picture({1, 3, 24, 32}, 8));
}

}  // namespace

TEST_CASE("layout: each file read gives the same bits, and back again the same file") {
  for (const std::string format : {"safetensors", "h5", "npz"}) {
    CAPTURE(format);
    const ScratchFolder folder;
    const auto path = [&](const char* name) { return folder / (name + ("." + format)); };
    const auto file = golden_file(tiny_config());
    export_checked(file, format, path("first"), kFirst);
    export_checked(load_any(path("first")), format, path("last"), kLast);
    export_checked(load_any(path("last")), format, path("again"), kFirst);
    CHECK(same_bits(load_any(path("last")).tensors, file.tensors));
    CHECK(read_file(path("first")) == read_file(path("again")));
    CHECK((read_file(path("first")) == read_file(path("last"))) == (format == "npz"));
  }
}

TEST_CASE("layout: safetensors keep kernels in the order that they say") {
  const ScratchFolder folder;
  const auto file = golden_file(tiny_config());
  export_safetensors(file, folder / "first.safetensors");
  export_safetensors(file, folder / "last.safetensors", kLast);
  const io::SafetensorsFile first(folder / "first.safetensors"), last(folder / "last.safetensors");
  CHECK(first.metadata().at("data_format") == "channels_first");
  CHECK(first.metadata().at("kernel_order") == "OIHW");
  CHECK(last.metadata().at("data_format") == "channels_last");
  CHECK(last.metadata().at("kernel_order") == "OHWI");
  const auto turned = by_name(read_tensors(folder / "last.safetensors"));
  const auto& kernel = file.tensors[2];
  CHECK(turned.at(kernel.first).equal(kernel.second.permute({0, 2, 3, 1})));
}

TEST_CASE("layout: Keras files have one axis order and only record the layout") {
  const ScratchFolder folder;
  const auto file = golden_file(tiny_config());
  export_keras(file, folder / "first.h5", kFirst);
  export_keras(file, folder / "last.h5");
  const io::Hdf5File first(folder / "first.h5"), last(folder / "last.h5");
  CHECK(first.texts("", "data_format") == std::vector<std::string>{"channels_first"});
  CHECK(last.texts("", "data_format") == std::vector<std::string>{"channels_last"});
  for (const auto& tensor : first.tensors()) {
    CHECK((first.read(tensor).bytes == last.read(*last.find(tensor.name)).bytes));
  }
}

TEST_CASE("layout: files of both give the same map in both memory formats") {
  const ScratchFolder folder;
  const auto file = golden_file(tiny_config());
  export_safetensors(file, folder / "first.safetensors");
  export_safetensors(file, folder / "last.safetensors", kLast);
  export_keras(file, folder / "first.h5", kFirst);
  const auto expected = map_of(folder / "first.safetensors", false);
  CHECK(expected.max().item<double>() > 0.99);
  for (const auto* name : {"first.safetensors", "last.safetensors", "first.h5"}) {
    CAPTURE(name);
    CHECK(map_of(folder / name, false).equal(expected));
    CHECK(distance(map_of(folder / name, true), expected) < 1e-5);
  }
}

TEST_CASE("layout: unknown layouts and kernel orders are refused") {
  auto config = Config::from_text("layout: channels_frist\n", "test.yaml");
  CHECK(contains(refusal_of(ErrorKind::Usage, [&] { read_layout(config); }),
                 "Did you mean 'channels_first'"));
  CHECK_FALSE(read_layout(Config()).has_value());
  const ScratchFolder folder;
  const auto file = golden_file(tiny_config());
  CHECK(contains(refusal_of(ErrorKind::Usage,
                            [&] { export_checked(file, "checkpoint", folder / "c", kLast); }),
                 "the same for every layout"));
  export_safetensors(file, folder / "a.safetensors", kLast);
  auto text = read_file(folder / "a.safetensors");
  text.replace(text.find("OHWI"), 4, "WHIO");
  write_file(folder / "b.safetensors", text);
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_any(folder / "b.safetensors"); }),
                 "got 'WHIO', expected OIHW or OHWI"));
}
