// SPDX-License-Identifier: Apache-2.0
// The table of dtypes, the streaming JSON parser of the header, and its writer.
#include "ubique/io/tensors/safetensors_json.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"

namespace ubique::io {
namespace {

// In the order in which tensors are written, the same as in Python's serializer.
constexpr std::array<std::pair<DType, std::string_view>, 16> kDTypeNames{{
    {DType::U64, "U64"},
    {DType::I64, "I64"},
    {DType::F64, "F64"},
    {DType::C64, "C64"},
    {DType::F32, "F32"},
    {DType::U32, "U32"},
    {DType::I32, "I32"},
    {DType::BF16, "BF16"},
    {DType::F16, "F16"},
    {DType::U16, "U16"},
    {DType::I16, "I16"},
    {DType::F8E4M3, "F8_E4M3"},
    {DType::F8E5M2, "F8_E5M2"},
    {DType::I8, "I8"},
    {DType::U8, "U8"},
    {DType::Bool, "BOOL"},
}};

}  // namespace

int safetensors_rank(DType dtype) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (kDTypeNames[i].first == dtype) return static_cast<int>(i);
  }
  fail(ErrorKind::Internal, "[io.safetensors] no name for dtype {}.", to_string(dtype));
}

std::string_view safetensors_name(DType dtype) {
  return kDTypeNames[static_cast<std::size_t>(safetensors_rank(dtype))].second;
}

std::optional<DType> safetensors_dtype(std::string_view name) {
  for (const auto& [dtype, known] : kDTypeNames) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

std::string safetensors_dtypes() {
  std::string text;
  for (const auto& row : kDTypeNames) text += (text.empty() ? "" : ", ") + std::string(row.second);
  return text;
}

namespace {

/// Parses {"__metadata__": {key: text}, name: {dtype, shape, data_offsets}} as a state machine:
/// each event of the JSON reader either fits the current state or is an error, so nesting cannot be
/// deeper than the format's.
class HeaderParser final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderParser(const std::string& file, SafetensorsJson& result) : file_(file), result_(result) {}

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("true or false"); }
  bool number_float(double, const std::string&) override {
    return refuse("a number with a fraction, or one too large");
  }
  bool number_integer(std::int64_t) override { return refuse("a negative number"); }
  bool number_unsigned(std::uint64_t value) override;
  bool string(std::string& text) override;
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_object(std::size_t) override;
  bool key(std::string& name) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override;

 private:
  enum class State { Outside, Top, Metadata, Tensor, Shape, Offsets };

  [[noreturn]] bool refuse(std::string_view got) const;
  void begin_tensor(std::string& name);
  void begin_field(const std::string& name);
  void finish_tensor();
  /// "model.safetensors: tensor 'x'", the start of each message.
  std::string subject() const;

  const std::string& file_;
  SafetensorsJson& result_;
  State state_ = State::Outside;
  std::string name_;   // of the tensor, or metadata's key
  std::string field_;  // of the tensor
  bool metadata_seen_ = false;
  std::optional<DType> dtype_;
  std::optional<Shape> shape_;
  std::optional<std::vector<std::uint64_t>> offsets_;
};

std::string HeaderParser::subject() const {
  if (state_ == State::Outside || name_.empty()) return fmt::format("{}: header", file_);
  if (name_ == kMetadataKey) return fmt::format("{}: {}", file_, kMetadataKey);
  const auto* kind = state_ == State::Metadata ? "metadata" : "tensor";
  return fmt::format("{}: {} '{}'", file_, kind, printable(name_));
}

bool HeaderParser::refuse(std::string_view got) const {
  std::string expected;
  switch (state_) {
    case State::Outside:
      expected = "an object of tensors";
      break;
    case State::Top:
      expected = name_ == kMetadataKey ? "an object of texts"
                                       : "an object with dtype, shape and data_offsets";
      break;
    case State::Metadata:
      expected = "a text: metadata holds texts only";
      break;
    case State::Tensor:
      expected = field_ == "dtype" ? "a text" : fmt::format("a list of numbers for {}", field_);
      break;
    case State::Shape:
      expected = "whole numbers from 0 in shape";
      break;
    case State::Offsets:
      expected = "whole numbers from 0 in data_offsets";
      break;
  }
  fail(ErrorKind::Input,
       "[io.safetensors] {} is not written as the format asks; got {}, expected {}.", subject(),
       got, expected);
}

bool HeaderParser::number_unsigned(std::uint64_t value) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (state_ != State::Shape && state_ != State::Offsets) return refuse("a number");
  if (value > kLargest) return refuse(fmt::format("{}, which is too large", value));
  if (state_ == State::Offsets) {
    if (offsets_->size() == 2) return refuse("more than two numbers");
    offsets_->push_back(value);
  } else {
    if (shape_->size() >= kMaxTensorDimensions) {
      fail(ErrorKind::Input,
           "[io.safetensors] {} has too many dimensions; got more than {}, expected at most as "
           "many.",
           subject(), kMaxTensorDimensions);
    }
    shape_->push_back(static_cast<std::int64_t>(value));
  }
  return true;
}

bool HeaderParser::string(std::string& text) {
  if (state_ == State::Metadata) {
    check(result_.metadata.try_emplace(name_, std::move(text)).second, ErrorKind::Input,
          "[io.safetensors] {} is given twice; expected each key once.", subject());
    return true;
  }
  if (state_ != State::Tensor || field_ != "dtype") {
    return refuse(fmt::format("the text '{}'", printable(text, 40)));
  }
  dtype_ = safetensors_dtype(text);
  if (!dtype_) {
    fail(ErrorKind::Input,
         "[io.safetensors] {} has an unknown dtype; got '{}', expected one of {}.", subject(),
         printable(text, 40), safetensors_dtypes());
  }
  return true;
}

bool HeaderParser::start_object(std::size_t) {
  if (state_ == State::Outside) {
    state_ = State::Top;
  } else if (state_ == State::Top) {
    state_ = name_ == kMetadataKey ? State::Metadata : State::Tensor;
  } else {
    return refuse("an object");
  }
  return true;
}

bool HeaderParser::key(std::string& name) {
  if (state_ == State::Metadata) {
    name_ = std::move(name);
  } else if (state_ == State::Tensor) {
    begin_field(name);
  } else {
    begin_tensor(name);
  }
  return true;
}

void HeaderParser::begin_tensor(std::string& name) {
  check(!name.empty(), ErrorKind::Input,
        "[io.safetensors] {}: a tensor has an empty name; expected at least one letter.", file_);
  if (name == kMetadataKey) {
    check(!metadata_seen_, ErrorKind::Input,
          "[io.safetensors] {}: {} is given twice; expected it once.", file_, kMetadataKey);
    metadata_seen_ = true;
  }
  name_ = std::move(name);
  dtype_.reset();
  shape_.reset();
  offsets_.reset();
}

void HeaderParser::begin_field(const std::string& name) {
  const bool known = name == "dtype" || name == "shape" || name == "data_offsets";
  // Not check(): composing its arguments for every good field takes most of the reading.
  if (!known) {
    fail(ErrorKind::Input,
         "[io.safetensors] {} has an unknown field; got '{}', expected dtype, shape and "
         "data_offsets. Written by a newer format?",
         subject(), printable(name, 40));
  }
  const bool seen = name == "dtype"   ? dtype_.has_value()
                    : name == "shape" ? shape_.has_value()
                                      : offsets_.has_value();
  if (seen) {
    fail(ErrorKind::Input, "[io.safetensors] {} gives {} twice; expected it once.", subject(),
         name);
  }
  field_ = name;
}

bool HeaderParser::start_array(std::size_t) {
  if (state_ != State::Tensor || field_ == "dtype") return refuse("a list");
  if (field_ == "shape") {
    shape_.emplace();
    state_ = State::Shape;
  } else {
    offsets_.emplace();
    state_ = State::Offsets;
  }
  return true;
}

bool HeaderParser::end_array() {
  state_ = State::Tensor;
  return true;
}

bool HeaderParser::end_object() {
  if (state_ == State::Tensor) finish_tensor();
  state_ = state_ == State::Top ? State::Outside : State::Top;
  return true;
}

void HeaderParser::finish_tensor() {
  const char* missing = !dtype_     ? "dtype"
                        : !shape_   ? "shape"
                        : !offsets_ ? "data_offsets"
                                    : nullptr;
  if (missing != nullptr) {
    fail(ErrorKind::Input, "[io.safetensors] {} has no {}; expected dtype, shape and data_offsets.",
         subject(), missing);
  }
  if (offsets_->size() != 2) {
    fail(ErrorKind::Input,
         "[io.safetensors] {} has {} data_offsets; expected 2, its begin and its end.", subject(),
         offsets_->size());
  }
  check(result_.tensors.size() < kMaxSafetensorsTensors, ErrorKind::Input,
        "[io.safetensors] {} has too many tensors; expected at most {}.", file_,
        kMaxSafetensorsTensors);
  result_.tensors.push_back(
      {std::move(name_), *dtype_, std::move(*shape_), offsets_->at(0), offsets_->at(1)});
  name_.clear();
}

bool HeaderParser::parse_error(std::size_t position, const std::string&,
                               const nlohmann::detail::exception&) {
  fail(ErrorKind::Input,
       "[io.safetensors] {}: header is not JSON; got something unreadable near byte {} of it, "
       "expected an object of tensors. The file is damaged, or no safetensors file.",
       file_, position);
}

}  // namespace

SafetensorsJson parse_safetensors_json(std::string_view text, const std::string& file) {
  // The JSON reader would take a zero byte for the end of the text and ignore the rest.
  check(text.find('\0') == std::string_view::npos, ErrorKind::Input,
        "[io.safetensors] {}: header has a zero byte; expected JSON padded with blanks.", file);
  check(text.starts_with('{'), ErrorKind::Input,
        "[io.safetensors] {}: header is not JSON; got '{}', expected '{{'.", file,
        printable(text, 1));
  SafetensorsJson result;
  HeaderParser parser(file, result);
  nlohmann::json::sax_parse(text.begin(), text.end(), &parser);
  return result;
}

std::string safetensors_json_text(const SafetensorsJson& json) {
  const auto quoted = [](const std::string& text) {
    try {
      return Json(text).dump();
    } catch (const Json::exception&) {
      fail(ErrorKind::Internal, "[io.safetensors] a name or metadata is not UTF-8; got '{}'.",
           printable(text));
    }
  };
  std::string text = "{";
  if (!json.metadata.empty()) {
    text += fmt::format("\"{}\":{{", kMetadataKey);
    for (const auto& [key, value] : json.metadata) {
      if (text.back() != '{') text += ',';
      text += quoted(key) + ":" + quoted(value);
    }
    text += "}";
  }
  for (const auto& tensor : json.tensors) {
    if (text.size() > 1) text += ',';
    text += fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        quoted(tensor.name), safetensors_name(tensor.dtype),
                        fmt::join(tensor.shape, ","), tensor.begin, tensor.end);
  }
  return text + "}";
}

}  // namespace ubique::io
