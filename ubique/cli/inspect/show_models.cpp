// SPDX-License-Identifier: Apache-2.0
// Model files of other systems and of ours: their tensors, and what else the file says.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/inspect/kinds.h"
#include "ubique/io/arrays/hdf5.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/graphs/onnx.h"
#include "ubique/io/graphs/tf_graph.h"
#include "ubique/io/graphs/tfjs.h"
#include "ubique/io/tensors/safetensors_set.h"
#include "ubique/io/torch/torch_file.h"

namespace ubique::cli {
namespace {

namespace fs = std::filesystem;

/// Files that fit into memory as a whole: values by name, read when the first statistics are asked
/// for.
using ReadAll = std::function<std::vector<io::HostTensor>()>;

TensorTable table_of(std::vector<io::TensorInfo> tensors, const fs::path& file, ReadAll read_all) {
  TensorTable table;
  table.tensors = std::move(tensors);
  table.files = {file};
  table.stats = [read_all = std::move(read_all),
                 values = std::make_shared<std::vector<io::HostTensor>>()](
                    const io::TensorInfo& info) -> std::optional<io::TensorStats> {
    if (values->empty()) *values = read_all();
    const auto* found = io::find_tensor(*values, info.name);
    if (found == nullptr) return std::nullopt;
    return io::tensor_stats(found->dtype, found->bytes);
  };
  return table;
}

/// For readers that always read the values.
TensorTable table_of(std::vector<io::HostTensor> tensors, const fs::path& file) {
  std::vector<io::TensorInfo> infos;
  for (const auto& tensor : tensors) infos.push_back({tensor.name, tensor.dtype, tensor.shape});
  return table_of(std::move(infos), file, [tensors = std::move(tensors)] { return tensors; });
}

/// "Conv 18, Relu 17": how often each occurs.
template <typename Nodes, typename Name>
Json counted(const Nodes& nodes, Name name) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& node : nodes) ++counts[name(node)];
  return counts;
}

bool no_values(const std::string&) { return false; }

/// Values beside the tensors that are short enough for a summary: {"epoch": 12}.
Json plain_values(const Json& tree) {
  auto plain = Json::object();
  if (!tree.is_object()) return plain;
  for (const auto& [key, value] : tree.items()) {
    if (value.is_primitive()) plain[key] = value;
  }
  return plain;
}

Json shape_of(const io::OnnxValue& value) {
  auto shape = Json::array();
  for (const auto& extent : value.shape) {
    std::visit([&](const auto& one) { shape.push_back(one); }, extent);
  }
  return shape;
}

Json shapes_of(const std::vector<io::OnnxValue>& values) {
  auto shapes = Json::object();
  for (const auto& value : values) {
    shapes[value.name] = fmt::format("{} {}", to_string(value.dtype), json_text(shape_of(value)));
  }
  return shapes;
}

/// model.json and the weight files that it names.
std::vector<fs::path> tfjs_files(const Sight& sight, const Json& document) {
  const auto folder = sight.is_folder ? sight.path : sight.path.parent_path();
  std::vector<fs::path> files = {sight.is_folder ? folder / "model.json" : sight.path};
  for (const auto& group : document.value("weightsManifest", Json::array())) {
    for (const auto& name : group.value("paths", Json::array())) {
      files.push_back(folder / name.get<std::string>());
    }
  }
  return files;
}

}  // namespace

void show_safetensors(const Sight& sight, Finding& finding) {
  const auto set = std::make_shared<const io::SafetensorsSet>(sight.path);
  auto& table = finding.table.emplace();
  table.tensors = set->tensors();
  for (const auto& file : set->files()) table.files.emplace_back(file.name());
  table.metadata = set->metadata();
  table.has_offsets = true;
  table.file_of = [set](const io::TensorInfo& info) -> fs::path {
    return set->file_of(*set->find(info.name)).name();
  };
  table.stats = [set](const io::TensorInfo& info) { return set->stats(*set->find(info.name)); };
  std::uint64_t bytes = 0;
  for (const auto& tensor : table.tensors) bytes += tensor.size();
  if (set->stated_size().value_or(bytes) != bytes) {
    log::warn("the index says that the tensors take {} bytes; they take {}", *set->stated_size(),
              bytes);
  }
  add_model_commands(sight.path, finding);
}

void show_torch(const Sight& sight, Finding& finding) {
  const auto file = io::read_torch_file(sight.path, no_values);
  std::vector<io::TensorInfo> infos;
  for (const auto& tensor : file.tensors)
    infos.push_back({tensor.name, tensor.dtype, tensor.shape});
  finding.table = table_of(std::move(infos), sight.path,
                           [path = sight.path] { return io::read_torch_file(path).tensors; });
  finding.facts.emplace_back("format",
                             sight.start.starts_with("PK") ? "zip" : "before PyTorch 1.6");
  if (auto values = plain_values(file.tree); !values.empty()) {
    finding.facts.emplace_back("values", std::move(values));
  }
  add_model_commands(sight.path, finding);
}

void show_hdf5(const Sight& sight, Finding& finding) {
  const auto file = std::make_shared<const io::Hdf5File>(sight.path);
  auto& table = finding.table.emplace();
  table.tensors = file->tensors();
  table.files = {sight.path};
  table.has_offsets = true;
  table.stats = [file](const io::TensorInfo& info) {
    return io::tensor_stats(info.dtype, file->read(*file->find(info.name)).bytes);
  };
  const auto version = file->texts("", "keras_version");
  if (!version.empty()) finding.facts.emplace_back("Keras", version.front());
  add_model_commands(sight.path, finding);
}

void show_numpy(const Sight& sight, Finding& finding) {
  const bool archive = sight.start.starts_with("PK");
  auto tensors =
      archive ? io::read_npz(sight.path) : std::vector<io::HostTensor>{io::read_npy(sight.path)};
  finding.table = table_of(std::move(tensors), sight.path);
  if (archive) add_model_commands(sight.path, finding);
}

void show_onnx(const Sight& sight, Finding& finding) {
  auto model = io::read_onnx(sight.path);
  finding.facts.emplace_back("opset", model.opset);
  if (!model.producer.empty()) {
    finding.facts.emplace_back("producer", trim(model.producer + " " + model.producer_version));
  }
  finding.facts.emplace_back("inputs", shapes_of(model.inputs));
  finding.facts.emplace_back("outputs", shapes_of(model.outputs));
  finding.facts.emplace_back("operators",
                             counted(model.nodes, [](const auto& node) { return node.op; }));
  finding.table = table_of(std::move(model.constants), sight.path);
  finding.table->metadata = std::move(model.metadata);
  add_model_commands(sight.path, finding);
}

void show_tf_graph(const Sight& sight, Finding& finding) {
  const auto path = sight.is_folder ? sight.path / "saved_model.pb" : sight.path;
  const auto graph = io::read_tf_graph(path, no_values);
  finding.facts.emplace_back("operators",
                             counted(graph.nodes, [](const auto& node) { return node.op; }));
  std::vector<io::TensorInfo> infos;
  for (const auto& one : graph.constants) infos.push_back({one.name, one.dtype, one.shape});
  finding.table =
      table_of(std::move(infos), path, [path] { return io::read_tf_graph(path).constants; });
  add_model_commands(sight.path, finding);
}

bool is_tfjs(const Sight& sight) {
  const auto path = sight.is_folder ? sight.path / "model.json" : sight.path;
  if (sight.is_folder ? !sight.has("model.json") : sight.extension != ".json") return false;
  return read_start(path, 1U << 16U).find("modelTopology") != std::string::npos;
}

void show_tfjs(const Sight& sight, Finding& finding) {
  auto model = io::read_tfjs(sight.path);
  finding.facts.emplace_back(
      "layers", counted(model.layers, [](const auto& layer) { return layer.class_name; }));
  finding.table = table_of(std::move(model.weights), sight.path);
  finding.table->files = tfjs_files(sight, model.document);
  add_model_commands(sight.path, finding);
}

}  // namespace ubique::cli
