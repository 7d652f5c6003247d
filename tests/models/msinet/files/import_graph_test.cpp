// SPDX-License-Identifier: Apache-2.0
// Frozen TensorFlow graphs: the checkpoint's names as constants, in a .pb or in the functions of a
// SavedModel.
#include "tests/base/scratch.h"
#include "tests/io/graphs/tf_graph_samples.h"
#include "tests/models/msinet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/models/msinet/files/weight_files.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;

namespace {

/// The constants of a frozen network under PREFIX, among what else such graphs hold.
std::vector<io::ProtoWriter> frozen_nodes(const MsiNetFile& file, const std::string& prefix,
                                          bool half_pixel = false) {
  std::vector<io::ProtoWriter> nodes = {tf::node("input", "Placeholder")};
  for (std::size_t i = 0; i < file.tensors.size(); i += 2) {
    auto name = file.tensors[i].first;  // conv1.conv1_1.weight
    name = prefix + name.substr(0, name.rfind('.'));
    std::replace(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(), '.', '/');
    const auto kernel = file.tensors[i].second.permute({2, 3, 1, 0});
    nodes.push_back(tf::constant(engine::host_tensor_of(name + "/kernel", kernel)));
    nodes.push_back(
        tf::constant(engine::host_tensor_of(name + "/bias", file.tensors[i + 1].second)));
    nodes.push_back(tf::node(name + "/kernel/read", "Identity"));
  }
  nodes.push_back(tf::constant("decoder/size", tf::float_tensor({2}, {60, 80})));
  nodes.push_back(tf::resize("decoder/ResizeBilinear", half_pixel));
  return nodes;
}

}  // namespace

TEST_CASE(
    "import: a frozen graph is the network of its checkpoint, by the names of its constants") {
  const ScratchFolder folder;
  const auto file = golden_file(tiny_config());
  write_file(folder / "model_cat2000_gpu.pb", tf::graph(frozen_nodes(file, "")).bytes());
  CHECK(looks_like_msinet(folder / "model_cat2000_gpu.pb"));
  const auto back = load_any(folder / "model_cat2000_gpu.pb");
  CHECK(same_bits(back.tensors, file.tensors));
  CHECK(back.form == "MSI-Net in a frozen TensorFlow graph");
  CHECK(back.config.upsample == Upsample::Legacy);
  CHECK(back.config.preprocessing == Preprocessing());
  CHECK(back.config.dataset == "cat2000");
  CHECK(back.config.device == "gpu");
}

TEST_CASE("import: a SavedModel's folder is read, whatever its functions put before the names") {
  const ScratchFolder folder;
  const auto file = golden_file(tiny_config());
  auto inside = frozen_nodes(file, "model/", true);
  const auto again = frozen_nodes(file, "model/", true);  // a second function with the same ones
  inside.insert(inside.end(), again.begin(), again.end());
  std::filesystem::create_directories(folder / "net");
  const auto graph = tf::graph({tf::node("call", "PartitionedCall")}, inside);
  write_file(folder / "net/saved_model.pb", tf::saved_model(graph).bytes());
  CHECK(looks_like_msinet(folder / "net"));
  const auto back = load_any(folder / "net");
  CHECK(same_bits(back.tensors, file.tensors));
  CHECK(back.config.upsample == Upsample::HalfPixel);
}

TEST_CASE("import: graphs of other networks are refused with names and shapes") {
  const ScratchFolder folder;
  const auto refused_file = [&](const char* name, const io::ProtoWriter& graph) {
    write_file(folder / name, graph.bytes());
    return refusal_of(ErrorKind::Input, [&] { load_any(folder / name); });
  };
  const auto other = tf::graph({tf::constant("dense/kernel", tf::float_tensor({7, 5}, {1}))});
  const auto text = refused_file("other.pb", other);
  CHECK(contains(text, "dense/kernel [7, 5]"));
  CHECK(contains(text, "has to be frozen"));
  CHECK_FALSE(looks_like_msinet(folder / "other.pb"));

  auto nodes = frozen_nodes(golden_file(tiny_config()), "");
  nodes.push_back(tf::constant("x/conv1/conv1_1/bias", tf::float_tensor({4}, {9})));
  CHECK(contains(refused_file("twice.pb", tf::graph(nodes)), "is there twice"));
  const auto whole = tf::graph(nodes).bytes();
  write_file(folder / "cut.pb", whole.substr(0, whole.size() - 7));
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_any(folder / "cut.pb"); }), "cut.pb"));
  CHECK_FALSE(looks_like_msinet(folder / "cut.pb"));
}
