// SPDX-License-Identifier: Apache-2.0
// Tensor by tensor: a model is never in memory twice.
#include "ubique/models/acestep/files/folder_writer.h"

#include <ATen/ATen.h>

#include <map>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/models/acestep/files/write_model.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderTag = "acestep.export";

using Values = std::map<std::string, at::Tensor>;

Values values_of(const nn::Network& network) {
  Values values;
  for (const auto& item : network.named_parameters()) values[item.key()] = item.value().detach();
  return values;
}

at::ScalarType dtype_for(const io::TensorInfo& info, std::optional<at::ScalarType> dtype) {
  const auto stored = engine::scalar_type_of(info.dtype);
  return dtype && at::isFloatingType(stored) ? *dtype : stored;
}

/// The base's file with the values of the same names.
void write_with_values(const fs::path& base, const fs::path& path, const Values& values,
                       std::optional<at::ScalarType> dtype) {
  const io::SafetensorsFile file(base);
  std::vector<io::TensorData> data;
  for (const auto& info : file.tensors()) {
    const auto type = dtype_for(info, dtype);
    const auto stream = [&, info, type](const io::ByteSink& sink) {
      const auto found = values.find(info.name);
      auto tensor = found != values.end()
                        ? found->second
                        : at::empty(info.shape, engine::scalar_type_of(info.dtype));
      if (found == values.end()) file.read(info, engine::writable_bytes_of(tensor));
      const auto host = engine::to_host(tensor.to(type));
      sink(engine::bytes_of(host));
    };
    data.push_back({.name = info.name,
                    .dtype = engine::dtype_of(at::empty({0}, type)),
                    .shape = info.shape,
                    .bytes = {},
                    .stream = stream});
  }
  io::write_safetensors(path, data, file.metadata());
}

void check_values(const fs::path& path, const Values& values) {
  const io::SafetensorsFile file(path);
  for (const auto& [name, value] : values) {
    const auto* info = file.find(name);
    check(info != nullptr, ErrorKind::Parity, "[acestep.export] {} lacks {}.", path.string(), name);
    auto read = at::empty(info->shape, engine::scalar_type_of(info->dtype));
    file.read(*info, engine::writable_bytes_of(read));
    engine::check_same_tensors({{name, engine::to_host(value.to(read.scalar_type()))}},
                               {{name, read}}, kFolderTag);
  }
}

void copy_files(const fs::path& from, const fs::path& to, const fs::path& but) {
  make_folder(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    std::error_code error;
    if (!entry.is_regular_file(error) || entry.path() == but) continue;
    fs::copy_file(entry.path(), to / entry.path().filename(), error);
    check(!error, ErrorKind::Input, "[acestep.export] {} cannot be copied to {}: {}.",
          entry.path().string(), to.string(), error.message());
  }
}

}  // namespace

void write_model_folder(AcestepModel& model, const fs::path& folder, const std::string& dtype) {
  const auto type = dtype.empty() ? std::nullopt : std::optional(named_dtype(dtype));
  const auto base = read_model_folder(model.base());
  if (type) model.dit().to(at::promote_types(*type, model.dit().weights().text.bias.scalar_type()));
  model.merge_adapter();
  engine::write_checked(folder, kFolderTag, [&] {
    make_folder(folder);
    copy_files(base.path, folder, {});
    for (const auto part : kParts) {
      const auto own = folder / folder_name(part), weights = own / weights_name(part);
      const bool text = part == Part::TextEncoder && model.trains_text();
      const bool trained = text || part == Part::Transformer;
      copy_files(base.path / folder_name(part), own, trained ? base.weights(part) : fs::path());
      if (!trained) continue;
      const auto values = text ? values_of(*model.text_encoder()) : values_of(model.dit());
      write_with_values(base.weights(part), weights, values, type);
      check_values(weights, values);
    }
  });
}

}  // namespace ubique::acestep
