// SPDX-License-Identifier: Apache-2.0
#include "ubique/export/onnx_check.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/engine/tensor_bytes.h"
#include "ubique/export/onnx_run.h"

namespace ubique::exporting {
namespace {

namespace fs = std::filesystem;

/// How far rounding of weights may carry: largest difference, and share of labels that may change.
struct Allowance {
  double difference, labels;
};

Allowance allowance_of(DType dtype) {
  if (dtype == DType::I8) return {0.1, 0.05};
  return dtype == DType::F16 ? Allowance{0.01, 1e-3} : Allowance{1e-5, 1e-4};
}

CheckedFile compare_outputs(const at::Tensor& got, const at::Tensor& expected) {
  CheckedFile result;
  result.labels = expected.scalar_type() == at::kLong;
  if (result.labels) {
    result.agreement = got.eq(expected).to(at::kDouble).mean().item<double>();
    return result;
  }
  const auto largest = expected.abs().max().item<double>();
  result.difference = (got - expected).abs().max().item<double>() / std::max(largest, 1e-30);
  return result;
}

fs::path data_file(fs::path path) { return path += ".data"; }

void remove_files(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  fs::remove(data_file(path), ignored);
}

std::int64_t size_of_files(const fs::path& path) {
  std::error_code error;
  const auto beside = fs::file_size(data_file(path), error);
  return static_cast<std::int64_t>(fs::file_size(path) + (error ? 0 : beside));
}

CheckedFile check_file(const engine::GraphExport& model, const OnnxOptions& options,
                       const fs::path& path) {
  const auto got = run_onnx(io::read_onnx(path), engine::torch_tensor(model.input));
  const auto expected = engine::torch_tensor(model.output);
  check(got.sizes() == expected.sizes(), ErrorKind::Parity,
        "[export.onnx] what was written computes another shape. Nothing was kept.");
  auto result = compare_outputs(got, expected);
  const auto allowed = allowance_of(options.dtype);
  check(result.difference <= allowed.difference && 1 - result.agreement <= allowed.labels,
        ErrorKind::Parity,
        "[export.onnx] what was written does not compute what the model does; got a difference of "
        "{:.2g} of the largest value and {:.2f} % of labels, expected at most {:.2g} and at least "
        "{:.2f} %. Nothing was kept.",
        result.difference, 100 * result.agreement, allowed.difference, 100 * (1 - allowed.labels));
  result.bytes = size_of_files(path);
  return result;
}

}  // namespace

CheckedFile export_onnx(const engine::GraphExport& model, const OnnxOptions& options,
                        const fs::path& path) {
  check(!fs::exists(path), ErrorKind::Usage,
        "[export.onnx] {} exists already; expected a new name.", path.string());
  try {
    io::write_onnx(path, to_onnx(model.graph, options));
    return check_file(model, options, path);
  } catch (const Error&) {
    remove_files(path);
    throw;
  }
}

}  // namespace ubique::exporting
