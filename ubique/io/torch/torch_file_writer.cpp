// SPDX-License-Identifier: Apache-2.0
// Writes the zip format of torch.save: a pickle that refers to the storages, and the storages,
// aligned to 64 bytes for torch.load(mmap=True).
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/zip_writer.h"
#include "ubique/io/torch/pickle_writer.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/io/torch/torch_file_names.h"

namespace ubique::io {
namespace {

constexpr std::size_t kStorageAlignment = 64;

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * std::max<std::int64_t>(shape[d], 1);
  }
  return strides;
}

void write_counts(PickleWriter& out, const Shape& counts) {
  out.op(PickleOp::Mark);
  for (const auto count : counts) out.integer(count);
  out.op(PickleOp::Tuple);
}

void write_empty_ordered_dict(PickleWriter& out) {
  out.global("collections", "OrderedDict");
  out.op(PickleOp::EmptyTuple);
  out.op(PickleOp::Reduce);
}

/// ("storage", type, key, "cpu", elements): the identity of a storage.
void write_storage(PickleWriter& out, const HostTensor& tensor, std::size_t key) {
  const auto type = torch_storage_name(tensor.dtype);
  const auto width = type.empty() ? 1 : size_of(tensor.dtype);
  out.op(PickleOp::Mark);
  out.text("storage");
  if (type.empty()) {
    out.global("torch.storage", "UntypedStorage");
  } else {
    out.global("torch", type);
  }
  out.text(std::to_string(key));
  out.text("cpu");
  out.unsigned_integer(tensor.bytes.size() / width);
  out.op(PickleOp::Tuple);
  out.op(PickleOp::BinPersistent);
}

void write_tensor_call(PickleWriter& out, const HostTensor& tensor, std::size_t key) {
  const bool untyped = torch_storage_name(tensor.dtype).empty();
  out.global("torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  out.op(PickleOp::Mark);
  write_storage(out, tensor, key);
  out.integer(0);
  write_counts(out, tensor.shape);
  write_counts(out, row_major_strides(tensor.shape));
  out.boolean(false);  // requires_grad
  write_empty_ordered_dict(out);
  if (untyped) out.global("torch", torch_dtype_name(tensor.dtype));
  out.op(PickleOp::Tuple);
  out.op(PickleOp::Reduce);
}

void write_tensor_items(PickleWriter& out, std::span<const HostTensor> tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    out.text(tensors[i].name);
    write_tensor_call(out, tensors[i], i);
  }
}

std::string checkpoint_pickle(std::span<const HostTensor> tensors, const std::string& under,
                              const Json& extra) {
  PickleWriter out;
  write_empty_ordered_dict(out);
  out.op(PickleOp::Mark);
  if (under.empty()) {
    write_tensor_items(out, tensors);
  } else {
    out.text(under);
    write_empty_ordered_dict(out);
    out.op(PickleOp::Mark);
    write_tensor_items(out, tensors);
    out.op(PickleOp::SetItems);
  }
  for (const auto& [key, value] : extra.items()) {
    out.text(key);
    out.json(value);
  }
  out.op(PickleOp::SetItems);
  return out.finish();
}

}  // namespace

void write_torch_file(const std::filesystem::path& path, std::span<const HostTensor> tensors,
                      const std::string& under, const Json& extra) {
  check_tensors(tensors, "io.torch_file");
  check(extra.is_object(), ErrorKind::Internal,
        "[io.torch_file] the values beside the tensors must be an object; got {}.",
        extra.type_name());
  for (const auto& [key, value] : extra.items()) {
    const bool taken = under.empty() ? find_tensor(tensors, key) != nullptr : key == under;
    check(!taken, ErrorKind::Internal, "[io.torch_file] the key '{}' is given twice.",
          printable(key));
  }
  ZipWriter zip(path);
  const std::string folder = "archive/";
  zip.store(folder + "data.pkl", checkpoint_pickle(tensors, under, extra));
  zip.store(folder + "byteorder", kLittleMachine ? "little" : "big");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    zip.store(folder + "data/" + std::to_string(i), tensors[i].bytes, kStorageAlignment);
  }
  zip.store(folder + "version", "3\n");
  zip.commit();
}

}  // namespace ubique::io
