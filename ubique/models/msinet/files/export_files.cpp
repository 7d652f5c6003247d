// SPDX-License-Identifier: Apache-2.0
// Weight files under the tensor names of the systems that read them, each verified by reading back.
#include <ATen/ATen.h>

#include "ubique/base/text/names.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/models/msinet/files/import_keras.h"
#include "ubique/models/msinet/files/weight_files.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

constexpr NameTable<FileLayout, 2> kLayouts{{
    {FileLayout::ChannelsFirst, "channels_first"},
    {FileLayout::ChannelsLast, "channels_last"},
}};

at::Tensor tensor_named(const MsiNetFile& file, const std::string& name) {
  const auto tensor = engine::find_tensor(file.tensors, name);
  check(tensor.defined(), ErrorKind::Input,
        "[msinet.export] the weights lack '{}'; expected a whole network.", name);
  return tensor;
}

/// Kernels as (H, W, I, O), under LAYER + kernel and LAYER + bias.
std::vector<io::HostTensor> keras_tensors(const MsiNetFile& file, const char* separator,
                                          const std::string& kernel, const std::string& bias) {
  std::vector<io::HostTensor> tensors;
  for (const auto& layer : layers_of(file.config)) {
    const auto name = layer.scope("."), exported = layer.scope(separator);
    const auto weight = tensor_named(file, name + ".weight").permute({2, 3, 1, 0});
    tensors.push_back(engine::host_tensor_of(exported + kernel, weight));
    tensors.push_back(engine::host_tensor_of(exported + bias, tensor_named(file, name + ".bias")));
  }
  return tensors;
}

void write_checkpoint(const MsiNetFile& file, const fs::path& path) {
  engine::Checkpoint checkpoint;
  checkpoint.family = "msinet";
  checkpoint.config = to_json(file.config);
  checkpoint.provenance = {{"converted_from", file.form}};
  checkpoint.model = file.tensors;
  engine::save_checkpoint(path, checkpoint);
}

void write_format(const MsiNetFile& file, const std::string& format, const fs::path& path,
                  std::optional<FileLayout> layout) {
  if (format == "safetensors") {
    return export_safetensors(file, path, layout.value_or(FileLayout::ChannelsFirst));
  }
  if (format == "h5") return export_keras(file, path, layout.value_or(FileLayout::ChannelsLast));
  if (format == "npz") return export_npz(file, path);
  write_checkpoint(file, path);
}

engine::NamedTensors read_again(const fs::path& path) {
  if (engine::is_checkpoint(path)) return engine::load_checkpoint(path, false).model;
  return load_any(path).tensors;
}

}  // namespace

std::string_view to_string(FileLayout layout) { return name_of(kLayouts, layout); }

std::vector<engine::Option> layout_options() {
  return {{"--layout", "layout", "NAME",
           "channels_first or channels_last. safetensors: kernels as (O, I, H, W) or (O, H, W, I); "
           "h5: kernels are (H, W, I, O) for both, data_format records the word; npz: one file for "
           "both"}};
}

std::optional<FileLayout> read_layout(const Config& config) {
  const auto text = config.find<std::string>("layout");
  if (!text) return std::nullopt;
  return parse_name(kLayouts, "msinet.export", "layout", *text);
}

void export_safetensors(const MsiNetFile& file, const fs::path& path, FileLayout layout) {
  const bool last = layout == FileLayout::ChannelsLast;
  std::vector<at::Tensor> hosts;  // the bytes must outlive the call
  std::vector<io::TensorData> tensors;
  for (const auto& [name, tensor] : file.tensors) {
    const bool permuted = last && tensor.dim() == 4;
    hosts.push_back(engine::to_host(permuted ? tensor.permute({0, 2, 3, 1}) : tensor));
    const auto& host = hosts.back();
    tensors.push_back({name, engine::dtype_of(host), host.sizes().vec(), engine::bytes_of(host)});
  }
  io::write_safetensors(path, tensors,
                        {{"format", "pt"},
                         {kConfigKey, to_json(file.config).dump()},
                         {kLayoutKey, std::string(to_string(layout))},
                         {kKernelOrderKey, last ? kChannelsLastOrder : kTorchOrder}});
}

void export_keras(const MsiNetFile& file, const fs::path& path, FileLayout layout) {
  const auto tensors = keras_tensors(file, "_", "/vars/0", "/vars/1");
  std::vector<io::Hdf5Attribute> attributes = {{"", kConfigKey, {to_json(file.config).dump()}},
                                               {"", kLayoutKey, {std::string(to_string(layout))}},
                                               {"vars", "name", {"msinet"}}};
  for (const auto& layer : layers_of(file.config)) {
    attributes.push_back({layer.scope("_") + "/vars", "name", {layer.scope("_")}});
  }
  io::write_hdf5(path, tensors, attributes);
}

void export_npz(const MsiNetFile& file, const fs::path& path) {
  io::write_npz(path, keras_tensors(file, "/", "/kernel", "/bias"), /*compress=*/false);
}

void export_checked(const MsiNetFile& file, const std::string& format, const fs::path& path,
                    std::optional<FileLayout> layout) {
  check(format != "checkpoint" || !layout, ErrorKind::Usage,
        "[msinet.export] a checkpoint is the same for every layout; got --layout {}, expected it "
        "with safetensors, h5 or npz.",
        layout ? to_string(*layout) : "");
  engine::write_checked(path, "msinet.export", [&] {
    write_format(file, format, path, layout);
    engine::check_same_tensors(file.tensors, read_again(path), "msinet.export");
  });
}

}  // namespace ubique::msinet
