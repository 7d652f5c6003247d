// SPDX-License-Identifier: Apache-2.0
// Writes a pickle of protocol 2, opcode by opcode, that torch.load(weights_only=True) accepts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ubique/base/text/json_fwd.h"
#include "ubique/io/torch/pickle_opcodes.h"

namespace ubique::io {

class PickleWriter {
 public:
  PickleWriter();

  void op(PickleOp code) { out_ += static_cast<char>(code); }
  void boolean(bool value) { op(value ? PickleOp::True : PickleOp::False); }
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  void number(double value);
  void text(std::string_view value);
  void global(std::string_view module, std::string_view name);
  /// None, bool, int, float, str, list and dict. Internal error for binary values.
  void json(const Json& value);

  /// Ends the pickle and returns it.
  std::string finish();

 private:
  std::string out_;
};

}  // namespace ubique::io
