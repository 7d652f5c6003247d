// SPDX-License-Identifier: Apache-2.0
// Reads GGUF. Nothing in a file is believed: every count is compared with the bytes that are left
// before memory is taken for it, every offset with the size of the file.
#include <algorithm>
#include <bit>
#include <numeric>
#include <type_traits>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/graphs/gguf.h"
#include "ubique/io/graphs/gguf_format.h"

namespace ubique::io {
namespace {

constexpr GgufType kGgufTypes[] = {GgufType::F32, GgufType::F16, GgufType::BF16, GgufType::Q8_0,
                                   GgufType::Q4_0};
constexpr std::uint64_t kLeastValueBytes = 8 + 4 + 1;       // an empty key, a type, one byte
constexpr std::uint64_t kLeastTensorBytes = 8 + 4 + 4 + 8;  // no name, no dimensions

/// Takes fields from the front of a file.
class GgufParser {
 public:
  GgufParser(std::span<const std::byte> file, const std::string& name)
      : file_(file), rest_(file), name_(name) {}

  std::uint64_t integer(std::size_t width, const char* what) {
    return load_little(take(width, what));
  }

  std::string text(std::uint64_t most, const char* what) {
    const auto length = integer(8, what);
    check(length <= most && length <= rest_.size(), ErrorKind::Input,
          "[io.gguf] {}: the length of {} is impossible; got {}, expected at most {}.", name_, what,
          length, std::min<std::uint64_t>(most, rest_.size()));
    const auto bytes = take(length, what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// A number of things that need at least `least` bytes each.
  std::uint64_t count(std::uint64_t least, std::uint64_t most, const char* what) {
    const auto value = integer(8, what);
    check(value <= most && value <= rest_.size() / least, ErrorKind::Input,
          "[io.gguf] {}: {} is impossible; got {}, but at most {} fit.", name_, what, value,
          std::min<std::uint64_t>(most, rest_.size() / least));
    return value;
  }

  GgufValue value(const std::string& key) {
    const auto type = integer(4, "a value type");
    if (type != gguf::kArray) return typed(type, key, [&]<typename T>() { return one<T>(); });
    return typed(integer(4, "an element type"), key, [&]<typename T>() { return many<T>(); });
  }

  std::uint64_t position() const { return file_.size() - rest_.size(); }

 private:
  std::span<const std::byte> take(std::uint64_t size, const char* what) {
    check(size <= rest_.size(), ErrorKind::Input,
          "[io.gguf] {} ends within {}; got {} bytes, expected {} more. Is the download complete?",
          name_, what, file_.size(), size - rest_.size());
    const auto taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  template <typename Make>
  GgufValue typed(std::uint64_t type, const std::string& key, const Make& make) {
    GgufValue value;
    const bool known = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      return ((gguf::type_number(kIndex) == type &&
               (value = make.template operator()<std::variant_alternative_t<kIndex, GgufValue>>(),
                true)) ||
              ...);
    }(std::make_index_sequence<gguf::kScalarTypes>());
    check(known, ErrorKind::Input,
          "[io.gguf] {}: the value of '{}' has a type that is not read; got number {}.", name_,
          printable(key), type);
    return value;
  }

  template <typename T>
  T one() {
    if constexpr (std::is_same_v<T, std::string>) {
      return text(rest_.size(), "a text");
    } else if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(integer(4, "a value")));
    } else if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<double>(integer(8, "a value"));
    } else if constexpr (std::is_same_v<T, bool>) {
      const auto byte = integer(1, "a value");
      check(byte <= 1, ErrorKind::Input, "[io.gguf] {}: a truth value is neither 0 nor 1; got {}.",
            name_, byte);
      return byte == 1;
    } else {
      return static_cast<T>(integer(sizeof(T), "a value"));
    }
  }

  template <typename T>
  std::vector<T> many() {
    constexpr std::size_t kLeast = std::is_same_v<T, std::string> ? 8 : sizeof(T);
    const auto length = count(kLeast, rest_.size(), "the length of an array");
    std::vector<T> values;
    values.reserve(static_cast<std::size_t>(length));
    for (std::uint64_t i = 0; i < length; ++i) values.push_back(one<T>());
    return values;
  }

  std::span<const std::byte> file_, rest_;
  const std::string& name_;
};

std::uint64_t read_version(GgufParser& parser, const std::string& name) {
  check(parser.integer(4, "its first bytes") == gguf::kMagic, ErrorKind::Input,
        "[io.gguf] {} is no GGUF file; expected the letters GGUF at its beginning.", name);
  const auto version = parser.integer(4, "the version");
  check((version & 0xFFFFU) != 0, ErrorKind::Input,
        "[io.gguf] {} was written for big-endian machines; expected a little-endian file.", name);
  check(version == 2 || version == gguf::kVersion, ErrorKind::Input,
        "[io.gguf] {} has a version that is not read; got {}, expected 2 or 3.", name, version);
  return version;
}

template <typename Names>
void check_each_once(Names names, const char* what, const std::string& file) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  check(twice == names.end(), ErrorKind::Input,
        "[io.gguf] {}: a {} is given twice; got '{}', expected each once.", file, what,
        twice == names.end() ? std::string() : printable(*twice));
}

GgufMetadata read_metadata(GgufParser& parser, std::uint64_t count, const std::string& name) {
  GgufMetadata metadata;
  std::vector<std::string_view> keys;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto key = parser.text(gguf::kMostKey, "a metadata key");
    auto value = parser.value(key);
    metadata.emplace_back(std::move(key), std::move(value));
  }
  for (const auto& entry : metadata) keys.emplace_back(entry.first);
  check_each_once(std::move(keys), "metadata key", name);
  return metadata;
}

std::uint64_t alignment_of(const GgufMetadata& metadata, const std::string& name) {
  const auto* value = find_value(metadata, gguf::kAlignmentKey);
  if (value == nullptr) return gguf::kAlignment;
  const auto* number = std::get_if<std::uint32_t>(value);
  check(number != nullptr && *number >= 8 && *number <= gguf::kMostAlignment &&
            std::has_single_bit(*number),
        ErrorKind::Input,
        "[io.gguf] {}: {} is impossible; got {}, expected a power of two from 8 to {}.", name,
        gguf::kAlignmentKey, number == nullptr ? "another type" : std::to_string(*number),
        gguf::kMostAlignment);
  return *number;
}

GgufTensor read_tensor(GgufParser& parser, std::uint64_t alignment, const std::string& name) {
  GgufTensor tensor;
  tensor.name = parser.text(gguf::kMostName + 1, "a tensor name");
  const auto dimensions = parser.integer(4, "a number of dimensions");
  check(dimensions <= gguf::kMostDimensions, ErrorKind::Input,
        "[io.gguf] {}: tensor '{}' has too many dimensions; got {}, expected at most {}.", name,
        printable(tensor.name), dimensions, gguf::kMostDimensions);
  for (std::uint64_t i = 0; i < dimensions; ++i) {
    tensor.shape.insert(tensor.shape.begin(),
                        static_cast<std::int64_t>(parser.integer(8, "a dimension")));
  }
  const auto number = parser.integer(4, "a tensor type");
  const auto* type =
      std::find_if(std::begin(kGgufTypes), std::end(kGgufTypes),
                   [&](GgufType known) { return static_cast<std::uint32_t>(known) == number; });
  check(type != std::end(kGgufTypes), ErrorKind::Input,
        "[io.gguf] {}: tensor '{}' has a type that is not read; got number {}, expected F32, F16, "
        "BF16, Q8_0 or Q4_0.",
        name, printable(tensor.name), number);
  tensor.type = *type;
  tensor.begin = parser.integer(8, "an offset");
  const auto size = gguf_byte_count(tensor.type, tensor.shape);
  check(size && tensor.begin % alignment == 0 && tensor.begin <= UINT64_MAX - *size,
        ErrorKind::Input,
        "[io.gguf] {}: tensor '{}' is impossible; got {} {} at offset {}, expected whole blocks "
        "and an offset that is a multiple of {}.",
        name, printable(tensor.name), to_string(tensor.type), shape_text(tensor.shape),
        tensor.begin, alignment);
  tensor.end = tensor.begin + *size;
  return tensor;
}

/// The tensors lie in the file, none on another.
void check_places(const std::vector<GgufTensor>& tensors, std::uint64_t data_size,
                  const std::string& name) {
  std::vector<const GgufTensor*> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->begin < b->begin; });
  std::uint64_t end = 0;
  for (const auto* tensor : order) {
    check(tensor->end <= data_size, ErrorKind::Input,
          "[io.gguf] {} is too short for tensor '{}'; got {} bytes of data, expected {}. Is the "
          "download complete?",
          name, printable(tensor->name), data_size, tensor->end);
    check(tensor->size() == 0 || tensor->begin >= end, ErrorKind::Input,
          "[io.gguf] {}: tensor '{}' overlaps another one; got offset {}, expected {} or more.",
          name, printable(tensor->name), tensor->begin, end);
    end = std::max(end, tensor->end);
  }
}

}  // namespace

GgufFile::GgufFile(std::span<const std::byte> file, const std::string& name) {
  GgufParser parser(file, name);
  read_version(parser, name);
  const auto count = parser.count(kLeastTensorBytes, gguf::kMostTensors, "the number of tensors");
  const auto values =
      parser.count(kLeastValueBytes, gguf::kMostValues, "the number of metadata values");
  metadata_ = read_metadata(parser, values, name);
  const auto alignment = alignment_of(metadata_, name);
  for (std::uint64_t i = 0; i < count; ++i) {
    tensors_.push_back(read_tensor(parser, alignment, name));
  }
  std::vector<std::string_view> names;
  for (const auto& tensor : tensors_) names.emplace_back(tensor.name);
  check_each_once(std::move(names), "tensor name", name);
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::sort(by_name_.begin(), by_name_.end(),
            [&](auto a, auto b) { return tensors_[a].name < tensors_[b].name; });
  // A file without tensors may end before the padding.
  const auto begin =
      std::min<std::uint64_t>(gguf::align(parser.position(), alignment), file.size());
  data_ = file.subspan(static_cast<std::size_t>(begin));
  check_places(tensors_, data_.size(), name);
}

GgufFile GgufFile::from_memory(std::span<const std::byte> file, std::string name) {
  return {file, name};
}

GgufFile::GgufFile(const std::filesystem::path& path) {
  MappedFile map(path);
  *this = GgufFile(map.bytes(), path.string());
  map_ = std::move(map);
}

const GgufTensor* GgufFile::find(std::string_view name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](std::size_t i, std::string_view key) { return tensors_[i].name < key; });
  return found == by_name_.end() || tensors_[*found].name != name ? nullptr : &tensors_[*found];
}

std::span<const std::byte> GgufFile::bytes(const GgufTensor& tensor) const {
  return data_.subspan(static_cast<std::size_t>(tensor.begin),
                       static_cast<std::size_t>(tensor.size()));
}

}  // namespace ubique::io
