// SPDX-License-Identifier: Apache-2.0
// Parses and writes weightsManifest; converts quantised weights.
#include "ubique/io/graphs/tfjs_weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/tensors/tensor_stats.h"
#include "ubique/io/text/plain_name.h"

namespace ubique::io {

const Json& tfjs_member(const Json& object, std::string_view key, Json::value_t type,
                        const std::string& where) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  check(found != object.end() && found->type() == type, ErrorKind::Input,
        "[io.tfjs] {} has no '{}' of the right kind; got {}, expected {}.", where, key,
        found == object.end() ? "none" : found->type_name(), Json(type).type_name());
  return *found;
}

const std::string& tfjs_text(const Json& object, std::string_view key, const std::string& where) {
  return tfjs_member(object, key, Json::value_t::string, where).get_ref<const std::string&>();
}

const Json& tfjs_list(const Json& object, std::string_view key, const std::string& where) {
  return tfjs_member(object, key, Json::value_t::array, where);
}

namespace {

constexpr std::array<std::pair<DType, std::string_view>, 4> kTfjsTypes{{
    {DType::F32, "float32"},
    {DType::I32, "int32"},
    {DType::U8, "uint8"},
    {DType::Bool, "bool"},
}};

constexpr std::array<std::pair<DType, std::string_view>, 3> kTfjsQuantised{{
    {DType::U8, "uint8"},
    {DType::U16, "uint16"},
    {DType::F16, "float16"},
}};

template <std::size_t N>
DType tfjs_dtype(const std::array<std::pair<DType, std::string_view>, N>& table,
                 const std::string& name, const std::string& where) {
  std::string known;
  for (const auto& [dtype, text] : table) {
    if (text == name) return dtype;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  fail(ErrorKind::Input, "[io.tfjs] {} has an unknown dtype; got '{}', expected one of {}.", where,
       printable(name, 40), known);
}

/// value = stored * scale + min, in double as JavaScript computes it.
struct Quantisation {
  DType dtype = DType::U8;
  double scale = 1, min = 0;
};

std::optional<Quantisation> read_quantisation(const Json& weight, const std::string& where) {
  if (!weight.contains("quantization")) return {};
  const auto& json = tfjs_member(weight, "quantization", Json::value_t::object, where);
  Quantisation result;
  result.dtype = tfjs_dtype(kTfjsQuantised, tfjs_text(json, "dtype", where), where);
  if (result.dtype == DType::F16) return result;
  for (const auto& [key, value] : {std::pair("scale", &result.scale), {"min", &result.min}}) {
    const auto found = json.find(key);
    check(found != json.end() && found->is_number(), ErrorKind::Input,
          "[io.tfjs] {} is quantised without '{}'; expected a number.", where, key);
    *value = found->get<double>();
  }
  return result;
}

Shape read_shape(const Json& weight, const std::string& where) {
  Shape shape;
  for (const auto& size : tfjs_list(weight, "shape", where)) {
    check(size.is_number_unsigned() && std::in_range<std::int64_t>(size.get<std::uint64_t>()) &&
              shape.size() < kMaxTensorDimensions,
          ErrorKind::Input,
          "[io.tfjs] {} has a shape of something else than at most {} whole numbers from 0.", where,
          kMaxTensorDimensions);
    shape.push_back(size.get<std::int64_t>());
  }
  return shape;
}

std::vector<std::byte> dequantised(std::span<const std::byte> raw, const Quantisation& how) {
  const auto width = size_of(how.dtype);
  std::vector<std::byte> out(raw.size() / width * sizeof(float));
  for (std::size_t i = 0; i < raw.size() / width; ++i) {
    const auto stored = load_little(raw.subspan(i * width, width));
    const auto value = how.dtype == DType::F16
                           ? decode_f16(static_cast<std::uint16_t>(stored))
                           : static_cast<float>(static_cast<double>(stored) * how.scale + how.min);
    std::memcpy(out.data() + i * sizeof(float), &value, sizeof(float));
  }
  return out;
}

/// Removes the weight's bytes from the front of `rest`.
HostTensor read_weight(const Json& json, const std::string& file,
                       std::span<const std::byte>& rest) {
  HostTensor weight;
  weight.name = tfjs_text(json, "name", fmt::format("{}: a weight", file));
  const auto where = fmt::format("{}: weight '{}'", file, printable(weight.name));
  weight.dtype = tfjs_dtype(kTfjsTypes, tfjs_text(json, "dtype", where), where);
  weight.shape = read_shape(json, where);
  const auto quantised = read_quantisation(json, where);
  check(!quantised || weight.dtype == DType::F32, ErrorKind::Input,
        "[io.tfjs] {} is quantised from {}; expected float32.", where, to_string(weight.dtype));
  const auto size = byte_count(quantised ? quantised->dtype : weight.dtype, weight.shape);
  check(size && static_cast<std::uint64_t>(*size) <= rest.size(), ErrorKind::Input,
        "[io.tfjs] {} reaches past the end of its files; got {} bytes left, expected {} for {}.",
        where, rest.size(), size ? std::to_string(*size) : "far more", shape_text(weight.shape));
  const auto raw = rest.first(static_cast<std::size_t>(*size));
  rest = rest.subspan(raw.size());
  if (quantised) {
    weight.bytes = dequantised(raw, *quantised);
  } else {
    weight.bytes.assign(raw.begin(), raw.end());
    if (!kLittleMachine) swap_byte_order(weight);
  }
  return weight;
}

void check_weight_file(const std::string& path, const std::string& file) {
  check(is_plain_name(path), ErrorKind::Input,
        "[io.tfjs] {}: a weight file is not plainly named; got '{}', expected a file name without "
        "folders, such as model.bin.",
        file, printable(path));
}

/// The files of a group, concatenated: a weight may begin in one and end in the next.
std::vector<std::byte> group_bytes(const Json& group, const std::string& file,
                                   const TfjsFiles& files, std::set<std::string>& used) {
  std::vector<std::byte> bytes;
  for (const auto& path : tfjs_list(group, "paths", file + ": weightsManifest")) {
    check(path.is_string(), ErrorKind::Input, "[io.tfjs] {}: a weight file has no name.", file);
    const auto& name = path.get_ref<const std::string&>();
    check_weight_file(name, file);
    check(used.insert(name).second, ErrorKind::Input,
          "[io.tfjs] {} names the weight file '{}' twice; expected each once.", file,
          printable(name));
    const auto piece = files(name);
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  return bytes;
}

}  // namespace

std::vector<HostTensor> tfjs_weights(const Json& document, const std::string& file,
                                     const TfjsFiles& files) {
  std::vector<HostTensor> weights;
  std::set<std::string> names, used;
  for (const auto& group : tfjs_list(document, "weightsManifest", file)) {
    const auto& list = tfjs_list(group, "weights", file + ": weightsManifest");
    const auto bytes = group_bytes(group, file, files, used);
    std::span<const std::byte> rest = bytes;
    for (const auto& json : list) {
      weights.push_back(read_weight(json, file, rest));
      check(names.insert(weights.back().name).second, ErrorKind::Input,
            "[io.tfjs] {}: two weights have the name '{}'; expected each once.", file,
            printable(weights.back().name));
    }
    check(rest.empty(), ErrorKind::Input,
          "[io.tfjs] {}: its weight files are too long; got {} bytes that belong to no weight. Do "
          "they belong to another model?",
          file, rest.size());
  }
  return weights;
}

Json tfjs_manifest(std::span<const TfjsWeight> weights, const std::string& file) {
  auto list = Json::array();
  for (const auto& [weight, scale] : weights) {
    const bool half = weight.dtype == DType::F16;
    const auto type = half || scale ? DType::F32 : weight.dtype;
    const auto* const found = std::find_if(kTfjsTypes.begin(), kTfjsTypes.end(),
                                           [&](const auto& row) { return row.first == type; });
    check(found != kTfjsTypes.end(), ErrorKind::Input,
          "[io.tfjs] TensorFlow.js has no type for weight '{}'; got {}, expected f32, f16, i32, u8 "
          "or bool.",
          printable(weight.name), to_string(weight.dtype));
    check(!scale || weight.dtype == DType::U8, ErrorKind::Internal,
          "[io.tfjs] '{}' has a scale and is {}; expected u8.", weight.name,
          to_string(weight.dtype));
    Json entry = {{"name", weight.name}, {"shape", weight.shape}, {"dtype", found->second}};
    if (half) entry["quantization"] = {{"dtype", "float16"}, {"original_dtype", "float32"}};
    if (scale) {
      entry["quantization"] = {{"dtype", "uint8"},
                               {"scale", scale->scale},
                               {"min", scale->min},
                               {"original_dtype", "float32"}};
    }
    list.push_back(std::move(entry));
  }
  return Json::array({{{"paths", Json::array({file})}, {"weights", std::move(list)}}});
}

std::vector<std::byte> tfjs_raw_bytes(const HostTensor& weight) {
  if (kLittleMachine) return weight.bytes;
  auto copy = weight;
  swap_byte_order(copy);
  return std::move(copy.bytes);
}

}  // namespace ubique::io
