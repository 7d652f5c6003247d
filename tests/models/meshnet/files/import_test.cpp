// SPDX-License-Identifier: Apache-2.0
// Weight files with every system's tensor names, and the real files if they are present.
#include <ATen/ATen.h>

#include <limits>

#include "tests/base/scratch.h"
#include "tests/models/meshnet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/meshnet/files/export.h"
#include "ubique/models/meshnet/files/import.h"
#include "ubique/models/meshnet/files/import_layers.h"

using namespace ubique;
using namespace ubique::meshnet;
using namespace ubique::test;

namespace {

MeshNetFile file_of(const MeshNet& network) {
  MeshNetFile file{network.config(), {}, "test"};
  for (const auto& [name, tensor] : state_of(network)) {
    file.tensors.emplace_back(name, tensor.detach().clone());
  }
  return file;
}

MeshNetFile sample(const MeshNetConfig& config = preset("meshnet-5")) {
  return file_of(*random_network(config));
}

bool same_bits(const MeshNetFile& a, const MeshNetFile& b) {
  if (a.tensors.size() != b.tensors.size()) return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    if (a.tensors[i].first != b.tensors[i].first) return false;
    if (!at::equal(a.tensors[i].second, b.tensors[i].second)) return false;
  }
  return true;
}

/// The sample's tensors under another system's names: layer i is `root` + i * `step`, its parts
/// "conv" and "bn" are called `conv` and `norm`.
std::vector<io::HostTensor> renamed(const MeshNetFile& file, const std::string& root,
                                    const std::string& conv, const std::string& norm,
                                    std::size_t step = 1) {
  std::vector<io::HostTensor> result;
  for (const auto& [name, tensor] : file.tensors) {
    const auto words = split(name, '.');
    auto text = root + std::to_string(std::stoul(words[1]) * step);
    if (words.size() == 4) {
      const auto& part = words[2] == "conv" ? conv : norm;
      if (!part.empty()) text += "." + part;
    }
    result.push_back(host_tensor_of(text + "." + words.back(), tensor));
  }
  return result;
}

void write_enmesh_json(const std::filesystem::path& path, const MeshNetConfig& config,
                       const Json& flags) {
  Json json = {{"header", "test"}, {"bnorm", true}, {"gelu", false}, {"dropout_p", 0}};
  json.update(flags);
  for (std::size_t i = 0; i < config.layers(); ++i) {
    json["layers"].push_back({{"in_channels", -1}, {"dilation", config.dilations[i]}});
  }
  json["layers"].push_back({{"in_channels", -1}, {"dilation", 1}});
  write_file(path, json.dump());
}

}  // namespace

TEST_CASE(
    "import: exported safetensors and .pt are read back bit by bit, with their configuration") {
  const ScratchFolder folder;
  auto config = preset("meshnet-5");
  config.dilations = {1, 3, 2};
  config.activation = Activation::Elu;
  config.preprocessing.normalization = "quantile";
  config.labels = {{"background", {0, 0, 0}}, {"lesion", {200, 0, 0}}};
  const auto file = sample(config);
  export_safetensors(file, folder / "a.safetensors");
  export_torch(file, folder / "a.pt");
  for (const auto* name : {"a.safetensors", "a.pt"}) {
    const auto back = load_any(folder / name);
    CHECK(same_bits(back, file));
    CHECK(back.config == config);
    CHECK(looks_like_meshnet(folder / name));
  }
}

TEST_CASE("import: weights with NaN and counters go through .pt and safetensors bit by bit") {
  const ScratchFolder folder;
  auto file = sample();
  for (auto& [name, tensor] : file.tensors) {
    if (name.ends_with("num_batches_tracked")) tensor.fill_(1234);
  }
  file.tensors.front().second.view({-1})[3] = std::numeric_limits<float>::quiet_NaN();
  export_checked(file, "pt", folder / "a.pt");
  export_checked(load_any(folder / "a.pt"), "safetensors", folder / "b.safetensors");
  export_checked(load_any(folder / "b.safetensors"), "pt", folder / "c.pt");
  engine::check_same_tensors(file.tensors, load_any(folder / "c.pt").tensors, "test");
}

TEST_CASE("import: state dicts under every system's names") {
  const ScratchFolder folder;
  auto config = preset("meshnet-5");
  config.dilations = {1, 2, 4, 8, 16, 8, 4, 2, 1};
  const auto file = sample(config);
  struct Naming {
    std::string root, conv, norm, form;
  };
  for (const Naming& naming : std::vector<Naming>{{"model.", "0", "1", "enMesh .pt"},
                                                  {"model.", "conv", "bnorm", "notebook .pt"},
                                                  {"module.model.", "0", "1", "enMesh .pt"}}) {
    for (const std::string under : {"", "model_state_dict", "state_dict"}) {
      io::write_torch_file(folder / "x.pth", renamed(file, naming.root, naming.conv, naming.norm),
                           under);
      const auto back = load_any(folder / "x.pth");
      INFO(naming.form << " under '" << under << "'");
      CHECK(same_bits(back, file));
      CHECK(back.form == naming.form);
      CHECK(back.config.dilations == config.dilations);
      CHECK(back.config.norm == Norm::Batch);
      CHECK(back.config.preprocessing.conform == "brainchop");
    }
  }
}

TEST_CASE("import: arc-meshchop's own names keep arc-meshchop's dilations and preprocessing") {
  const ScratchFolder folder;
  const auto file = sample();
  io::write_torch_file(folder / "x.pt", renamed(file, "network.", "conv", "bn"),
                       "model_state_dict");
  const auto back = load_any(folder / "x.pt");
  CHECK(same_bits(back, file));
  CHECK(back.config == preset("meshnet-5"));
}

TEST_CASE("import: folded flat weights in a safetensors file that is called .pth") {
  const ScratchFolder folder;
  auto config = preset("meshnet-5");
  config.classes = 3;
  config.dilations = {1, 2, 4, 8, 16, 8, 4, 2, 1};
  const auto folded = fold_batch_norm(sample(config));
  std::vector<io::TensorData> tensors;
  const auto hosts = renamed(folded, "model.", "", "", 2);
  for (const auto& host : hosts) tensors.push_back({host.name, host.dtype, host.shape, host.bytes});
  io::write_safetensors(folder / "model.pth", tensors);
  const auto back = load_any(folder / "model.pth");
  CHECK(same_bits(back, folded));
  CHECK(back.form == "flat safetensors");
  CHECK(back.config.norm == Norm::None);
  CHECK(back.config.activation == Activation::Relu);
  CHECK(back.config.dilations == config.dilations);
}

TEST_CASE("import: mindgrab's norms without weights are inferred from the missing tensors") {
  const ScratchFolder folder;
  auto config = preset("meshnet-5");
  config.channels = 15;
  config.norm = Norm::Instance;
  config.bias = false;
  config.dilations.clear();
  for (int i = 0; i < 25; ++i) config.dilations.push_back(16 >> (i % 5));
  const auto file = sample(config);
  CHECK(parameter_count(config) == 146237);
  io::write_torch_file(folder / "mindgrab.pth", renamed(file, "model.", "0", ""));
  const auto back = load_any(folder / "mindgrab.pth");
  CHECK(same_bits(back, file));
  CHECK(back.config.norm == Norm::Instance);
  CHECK(back.config.activation == Activation::Gelu);
  CHECK(back.config.dilations == config.dilations);
  CHECK(back.config.receptive_field() == 311);
}

TEST_CASE("import: an enMesh configuration beside the weights says dilations and activation") {
  const ScratchFolder folder;
  auto config = preset("meshnet-5");
  config.dilations = {1, 3, 5, 1};
  const auto file = sample(config);
  io::write_torch_file(folder / "x.pt", renamed(file, "model.", "0", "1"));
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_any(folder / "x.pt"); }),
                 "do not say their dilations"));
  write_enmesh_json(folder / "x.json", config, {{"dropout_p", 0.25}});
  CHECK(load_any(folder / "x.pt").config.dilations == config.dilations);
  CHECK(load_any(folder / "x.pt").config.activation == Activation::Relu);
  CHECK(load_any(folder / "x.pt").config.dropout == 0.25);
  write_enmesh_json(folder / "x.json", config, {{"gelu", true}});
  CHECK(load_any(folder / "x.pt").config.activation ==
        Activation::Elu);  // what enMesh's code built from that flag
  write_enmesh_json(folder / "x.json", config, {{"elu", true}});
  CHECK(load_any(folder / "x.pt").config.activation == Activation::Elu);
  config.dilations.push_back(1);
  write_enmesh_json(folder / "x.json", config, Json::object());
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_any(folder / "x.pt"); }),
                 "describes another network"));
}

TEST_CASE("import: a folder with enMesh's model.json and weights") {
  const ScratchFolder folder;
  auto config = preset("meshnet-5");
  config.dilations = {1, 3, 5, 1};
  const auto file = sample(config);
  write_enmesh_json(folder / "model.json", config, Json::object());
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_any(folder.path()); }), "no weights"));
  io::write_torch_file(folder / "model.pth", renamed(file, "model.", "0", "1"));
  CHECK(same_bits(load_any(folder.path()), file));
  CHECK(same_bits(load_any(folder / "model.json"), file));
}

TEST_CASE("import: other networks and damaged ones are refused with what was found") {
  const ScratchFolder folder;
  const auto refused = [&](const std::vector<io::HostTensor>& tensors) {
    io::write_torch_file(folder / "x.pt", tensors);
    return refusal_of(ErrorKind::Input, [&] { load_any(folder / "x.pt"); });
  };
  const auto host = [](const std::string& name, at::IntArrayRef shape) {
    return host_tensor_of(name, at::zeros(shape));
  };
  CHECK(contains(refused({host("encoder.layers.0.attention.weight", {4, 4})}),
                 "'encoder.layers.0.attention.weight'"));
  CHECK(contains(
      refused({host("model.0.weight", {4, 1, 3, 3}), host("model.2.weight", {2, 4, 1, 1})}),
      "five dimensions"));
  CHECK(contains(refused({host("0.weight", {4, 1, 3, 3, 3}), host("0.bias", {4}),
                          host("2.weight", {8, 4, 2, 2, 2}), host("2.bias", {8}),
                          host("4.weight", {2, 4, 1, 1, 1}), host("4.bias", {2})}),
                 "SAE"));
  auto tensors = renamed(sample(), "network.", "conv", "bn");
  tensors.erase(tensors.begin() + 4);  // network.0.bn.running_mean
  CHECK(contains(refused(tensors), "half a batch norm"));
  tensors = renamed(sample(), "network.", "conv", "bn");
  tensors.erase(tensors.begin() + 1);  // network.0.conv.bias
  CHECK(contains(refused(tensors), "other parts"));
  tensors = renamed(sample(), "network.", "conv", "bn");
  tensors.pop_back();
  CHECK(contains(refused(tensors), "classifier"));
  tensors = renamed(sample(), "network.", "conv", "bn");
  tensors[1] = host("network.0.conv.bias", {6});
  CHECK(contains(refused(tensors), "6 values for 5 channels"));
}

TEST_CASE("import: files that are no weights at all") {
  const ScratchFolder folder;
  write_file(folder / "scan.pt", std::string(400, 'x'));
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_any(folder / "scan.pt"); }),
                 "a file of unknown kind"));
  write_file(folder / "page.pth", "<!DOCTYPE html><html></html>");
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_any(folder / "page.pth"); }), "got a"));
  CHECK_FALSE(looks_like_meshnet(folder / "scan.pt"));
  write_file(folder / "model.json", "{\"hidden_size\": 8}");
  CHECK_FALSE(looks_like_meshnet(folder.path()));
  std::filesystem::remove(folder / "model.json");
  const std::vector<float> values(2);
  io::write_safetensors(
      folder / "a.safetensors",
      std::vector<io::TensorData>{
          {"encoder.0.attention.weight", DType::F32, {2}, std::as_bytes(std::span(values))}});
  CHECK_FALSE(looks_like_meshnet(folder / "a.safetensors"));
  CHECK_FALSE(looks_like_meshnet(folder / "absent"));
  CHECK_FALSE(looks_like_meshnet(folder.path()));
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_any(folder / "absent"); }),
                 "does not exist"));
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_any(folder.path()); }),
                 "without model.json"));
}

TEST_CASE("import: arc-meshchop's real checkpoint gives its logits") {
  const auto data = shared_folder("data/meshnet"), golden = shared_folder("golden/meshnet");
  if (data.empty() || golden.empty()) return;
  const auto file = load_any(data / "arc_fold0_restart0_final.pt");
  CHECK(file.config == preset("meshnet-26"));
  MeshNet network(file.config);
  load_state(network, file.tensors);
  network.eval();
  const at::NoGradGuard no_gradients;
  const auto image = by_name(read_tensors(golden / "meshnet5_io.safetensors")).at("x0");
  const auto expected =
      read_tensors(golden / "arc_fold0_restart0_final_on_meshnet5_x0.safetensors").front().second;
  CHECK(relative_distance(network.forward(image), expected) < 1e-5);
}

TEST_CASE("import: a checkpoint of arc-meshchop's trainer holds the state it was saved with") {
  const auto golden = shared_folder("golden/meshnet");
  if (golden.empty()) return;
  for (const std::string name : {"meshnet5", "meshnet_c3"}) {
    const auto file = load_any(golden / (name + "_final.pt"));
    const auto expected = by_name(read_tensors(golden / (name + "_state_after3.safetensors")));
    CHECK(file.tensors.size() == expected.size());
    for (const auto& [key, tensor] : file.tensors) CHECK(at::equal(tensor, expected.at(key)));
  }
}

TEST_CASE("import: BrainChop's real folders") {
  const auto models = shared_folder("data/brainchop/models");
  if (models.empty()) return;
  const auto five = load_any(models / "model5_gw_ae");
  CHECK(five.config.channels == 5);
  CHECK(five.config.classes == 3);
  CHECK(five.config.activation == Activation::Relu);
  CHECK(five.config.norm == Norm::None);
  CHECK(parameter_count(five.config) == 5598);
  CHECK(five.config.preprocessing.normalization == "min_max");
  CHECK(five.config.labels.empty());  // its colour map is another network's
  const auto twenty = load_any(models / "model20chan3cls" / "model.json");
  CHECK(twenty.config.activation == Activation::Elu);
  CHECK(twenty.config.preprocessing.normalization == "quantile");
  CHECK(twenty.config.labels.at(1).name == "White Matter");
  CHECK(twenty.config.dilations == std::vector<std::int64_t>{1, 2, 4, 8, 16, 8, 4, 2, 1});
}

TEST_CASE("import: a header that contradicts the weights is refused before anything is built") {
  const ScratchFolder folder;
  const auto honest = sample();
  const auto refused = [&](const auto& lie) {
    auto file = honest;
    lie(file.config);
    export_torch(file, folder / "lie.pt");
    export_safetensors(file, folder / "lie.safetensors");
    for (const auto* name : {"lie.pt", "lie.safetensors"}) {
      const auto message = refusal_of(ErrorKind::Input, [&] { load_any(folder / name); });
      CHECK(contains(message, "holds another network"));
    }
  };
  refused([](MeshNetConfig& config) { config.kernel = 1; });
  refused([](MeshNetConfig& config) { config.kernel = 7; });
  refused([](MeshNetConfig& config) { config.classes = 7; });
  refused([](MeshNetConfig& config) { config.channels = 1; });
  refused([](MeshNetConfig& config) { config.channels = 4096; });
  refused([](MeshNetConfig& config) { config.in_channels = 2; });
  refused([](MeshNetConfig& config) { config.bias = !config.bias; });
  refused([](MeshNetConfig& config) { config.norm = Norm::None; });
}
