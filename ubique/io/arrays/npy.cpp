// SPDX-License-Identifier: Apache-2.0
// Parses and writes .npy arrays: the header dict, then the values.
#include "ubique/io/arrays/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/tensors/host_tensor.h"

namespace ubique::io {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kNpyMagic = "\x93NUMPY"sv;
constexpr std::size_t kNpyAlignment = 64;

constexpr std::array<std::pair<DType, std::string_view>, 13> kNpyTypes{{
    {DType::Bool, "b1"},
    {DType::I8, "i1"},
    {DType::U8, "u1"},
    {DType::I16, "i2"},
    {DType::U16, "u2"},
    {DType::I32, "i4"},
    {DType::U32, "u4"},
    {DType::I64, "i8"},
    {DType::U64, "u8"},
    {DType::F16, "f2"},
    {DType::F32, "f4"},
    {DType::F64, "f8"},
    {DType::C64, "c8"},
}};

std::string_view npy_kind(char kind) {
  switch (kind) {
    case 'O':
      return "Python objects, which are pickles";
    case 'U':
      return "texts";
    case 'S':
    case 'a':
      return "byte strings";
    case 'M':
      return "dates";
    case 'm':
      return "time spans";
    case 'V':
      return "records or raw bytes";
    default:
      return "numbers of another width or kind";
  }
}

/// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } and nothing else.
class NpyDict {
 public:
  NpyDict(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void read(NpyHeader& header);

 private:
  [[noreturn]] void damaged(std::string_view what) const {
    fail(ErrorKind::Input,
         "[io.npy] {} has an unreadable header; {}, expected a dict with descr, fortran_order and "
         "shape.",
         name_, what);
  }
  void require(bool condition, std::string_view what) const {
    if (!condition) damaged(what);
  }
  void skip_blanks();
  bool accept(std::string_view token);
  std::string quoted();
  bool boolean();
  std::int64_t whole_number();
  Shape tuple();
  void type(NpyHeader& header);

  std::string_view text_;  // not parsed yet
  const std::string& name_;
};

void NpyDict::skip_blanks() {
  while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
}

bool NpyDict::accept(std::string_view token) {
  skip_blanks();
  if (!text_.starts_with(token)) return false;
  text_.remove_prefix(token.size());
  return true;
}

std::string NpyDict::quoted() {
  skip_blanks();
  require(!text_.empty() && (text_.front() == '\'' || text_.front() == '"'), "a text is missing");
  const auto end = text_.find(text_.front(), 1);
  require(end != std::string_view::npos, "a text does not end");
  auto result = std::string(text_.substr(1, end - 1));
  text_.remove_prefix(end + 1);
  return result;
}

bool NpyDict::boolean() {
  if (accept("True")) return true;
  require(accept("False"), "fortran_order is neither True nor False");
  return false;
}

std::int64_t NpyDict::whole_number() {
  skip_blanks();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  require(error == std::errc() && value >= 0, "a size is not a number from 0");
  text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  accept("L");  // long integers of Python 2
  return value;
}

Shape NpyDict::tuple() {
  require(accept("("), "shape is no tuple");
  Shape shape;
  while (!accept(")")) {
    require(shape.size() < kMaxTensorDimensions, "shape has more than 64 sizes");
    shape.push_back(whole_number());
    if (accept(",")) continue;
    require(accept(")"), "shape does not end");
    break;
  }
  return shape;
}

void NpyDict::type(NpyHeader& header) {
  skip_blanks();
  check(!text_.starts_with('['), ErrorKind::Input,
        "[io.npy] {} holds records of several fields; expected one plain number type. Save each "
        "field as an array of its own.",
        name_);
  const auto descr = quoted();
  const auto order = descr.empty() ? '\0' : descr.front();
  const bool ordered = order == '<' || order == '>' || order == '|' || order == '=';
  const auto type = std::string_view(descr).substr(ordered ? 1 : 0);
  for (const auto& [dtype, known] : kNpyTypes) {
    if (known != type) continue;
    header.dtype = dtype;
    header.little = order == '=' ? kLittleMachine : order != '>';
    return;
  }
  fail(ErrorKind::Input,
       "[io.npy] {} holds {}; got the type '{}', expected bools, integers, floats or complex64.",
       name_, npy_kind(type.empty() ? '\0' : type.front()), printable(descr, 40));
}

void NpyDict::read(NpyHeader& header) {
  bool seen_type = false, seen_order = false, seen_shape = false;
  const auto once = [&](bool& seen) {
    require(!std::exchange(seen, true), "a key is given twice");
  };
  require(accept("{"), "no dict begins");
  while (!accept("}")) {
    const auto key = quoted();
    require(accept(":"), "a value is missing");
    if (key == "descr") {
      once(seen_type);
      type(header);
    } else if (key == "fortran_order") {
      once(seen_order);
      header.fortran_order = boolean();
    } else if (key == "shape") {
      once(seen_shape);
      header.shape = tuple();
    } else {
      damaged(fmt::format("got the key '{}'", printable(key, 40)));
    }
    if (accept(",")) continue;
    require(accept("}"), "the dict does not end");
    break;
  }
  skip_blanks();
  require(text_.empty() && seen_type && seen_order && seen_shape, "something is missing or left");
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  check(text.starts_with(kNpyMagic), ErrorKind::Input, "[io.npy] {} is not an .npy array; {}", name,
        looks_like_clause(file));
  constexpr std::size_t kVersionAt = 6, kLengthAt = 8;
  const auto refuse_short = [&](std::size_t needed) {
    check(file.size() >= needed, ErrorKind::Input,
          "[io.npy] {} ends in its header; got {} bytes, expected at least {}. Was it cut short?",
          name, file.size(), needed);
  };
  refuse_short(kLengthAt);
  const auto version = std::to_integer<int>(file[kVersionAt]);
  check(version >= 1 && version <= 3, ErrorKind::Input,
        "[io.npy] {} has an unknown version; got {}, expected 1 to 3.", name, version);
  const std::size_t width = version == 1 ? 2 : 4;
  refuse_short(kLengthAt + width);
  const auto length = load_little(file.subspan(kLengthAt, width));
  NpyHeader header;
  header.data_begin = kLengthAt + width + length;
  refuse_short(header.data_begin);
  NpyDict(text.substr(kLengthAt + width, length), name).read(header);
  return header;
}

std::string npy_header_text(DType dtype, const Shape& shape) {
  std::optional<std::string_view> type;
  for (const auto& [known, text] : kNpyTypes) {
    if (known == dtype) type = text;
  }
  check(
      type.has_value(), ErrorKind::Input,
      "[io.npy] NumPy has no type for {}; expected bools, integers, f16, f32, f64 or c64. Convert "
      "it to f32 first.",
      to_string(dtype));
  const auto order = size_of(dtype) == 1 ? '|' : kLittleMachine ? '<' : '>';
  auto dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order,
                          *type, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // NumPy pads so that the first size can grow to 20 digits in place.
  if (!shape.empty()) dict.append(21 - std::to_string(shape.front()).size(), ' ');
  const auto before = kNpyMagic.size() + 4;
  dict.append(kNpyAlignment - (before + dict.size() + 1) % kNpyAlignment, ' ');
  dict += '\n';
  auto header = std::string(kNpyMagic) + '\x01' + '\0';
  append_little(header, dict.size(), 2);
  return header + dict;
}

namespace {

Shape fortran_strides(const Shape& shape) {
  Shape strides;
  std::int64_t stride = 1;
  for (const auto size : shape) {
    strides.push_back(stride);
    stride *= std::max<std::int64_t>(size, 1);
  }
  return strides;
}

}  // namespace

HostTensor parse_npy(std::span<const std::byte> file, const std::string& name) {
  const auto header = parse_npy_header(file, name);
  const auto data = file.subspan(header.data_begin);
  const auto expected = byte_count(header.dtype, header.shape);
  check(expected && data.size() == static_cast<std::uint64_t>(*expected), ErrorKind::Input,
        "[io.npy] {} has the wrong length; got {} bytes of values, expected those of {} {}. Was it "
        "cut short?",
        name, data.size(), to_string(header.dtype), shape_text(header.shape));
  HostTensor tensor{{}, header.dtype, header.shape, {}};
  if (header.fortran_order) {
    const StridedView view{header.shape, fortran_strides(header.shape), 0};
    tensor.bytes = row_major_copy(data, size_of(header.dtype), view);
  } else {
    tensor.bytes.assign(data.begin(), data.end());
  }
  if (header.little != kLittleMachine) swap_byte_order(tensor);
  return tensor;
}

HostTensor read_npy(const std::filesystem::path& path) {
  const MappedFile file(path);
  auto tensor = parse_npy(file.bytes(), path.string());
  tensor.name = path.stem().string();
  return tensor;
}

std::string npy_bytes(const HostTensor& tensor) {
  check_tensors({&tensor, 1}, "io.npy");
  auto bytes = npy_header_text(tensor.dtype, tensor.shape);
  bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return bytes;
}

void write_npy(const std::filesystem::path& path, const HostTensor& tensor) {
  write_file(path, npy_bytes(tensor));
}

}  // namespace ubique::io
