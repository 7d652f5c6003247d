// SPDX-License-Identifier: Apache-2.0
// Encodes numbers, texts and JSON as pickle opcodes.
#include "ubique/io/torch/pickle_writer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/archive/byte_order.h"

namespace ubique::io {

PickleWriter::PickleWriter() {
  op(PickleOp::Proto);
  out_ += '\x02';
}

void PickleWriter::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0 && value <= 0xFF) {
    op(PickleOp::BinInt1);
    append_little(out_, bits, 1);
  } else if (value >= std::numeric_limits<std::int32_t>::min() &&
             value <= std::numeric_limits<std::int32_t>::max()) {
    op(PickleOp::BinInt);
    append_little(out_, bits, 4);
  } else {
    op(PickleOp::Long1);
    append_little(out_, 8, 1);
    append_little(out_, bits, 8);
  }
}

void PickleWriter::unsigned_integer(std::uint64_t value) {
  if (std::in_range<std::int64_t>(value)) return integer(static_cast<std::int64_t>(value));
  op(PickleOp::Long1);
  append_little(out_, 9, 1);  // one byte more, or it would be negative
  append_little(out_, value, 8);
  append_little(out_, 0, 1);
}

void PickleWriter::number(double value) {
  std::string little;
  append_little(little, std::bit_cast<std::uint64_t>(value), 8);
  op(PickleOp::BinFloat);
  out_.append(little.rbegin(), little.rend());
}

void PickleWriter::text(std::string_view value) {
  check(is_utf8(value) && value.size() <= std::numeric_limits<std::uint32_t>::max(),
        ErrorKind::Internal, "[io.pickle] a text is too long or not UTF-8; got '{}'.",
        printable(value));
  op(PickleOp::BinUnicode);
  append_little(out_, value.size(), 4);
  out_ += value;
}

void PickleWriter::global(std::string_view module, std::string_view name) {
  op(PickleOp::Global);
  out_ += module;
  out_ += '\n';
  out_ += name;
  out_ += '\n';
}

void PickleWriter::json(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return op(PickleOp::None);
    case Json::value_t::boolean:
      return boolean(value.get<bool>());
    case Json::value_t::number_integer:
      return integer(value.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return unsigned_integer(value.get<std::uint64_t>());
    case Json::value_t::number_float:
      return number(value.get<double>());
    case Json::value_t::string:
      return text(value.get_ref<const std::string&>());
    case Json::value_t::array:
      op(PickleOp::EmptyList);
      op(PickleOp::Mark);
      for (const auto& item : value) json(item);
      return op(PickleOp::Appends);
    case Json::value_t::object:
      op(PickleOp::EmptyDict);
      op(PickleOp::Mark);
      for (const auto& [key, item] : value.items()) {
        text(key);
        json(item);
      }
      return op(PickleOp::SetItems);
    default:
      fail(ErrorKind::Internal, "[io.pickle] cannot write a {} value.", value.type_name());
  }
}

std::string PickleWriter::finish() {
  op(PickleOp::Stop);
  return std::move(out_);
}

}  // namespace ubique::io
