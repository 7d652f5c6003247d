// SPDX-License-Identifier: Apache-2.0
// The opcodes of pickle protocols 2 to 5 that plain values, names and calls need.
#pragma once

#include <cstddef>

namespace ubique::io {

enum class PickleOp : unsigned char {
  Mark = '(',
  Stop = '.',
  Pop = '0',
  PopMark = '1',
  Dup = '2',
  BinFloat = 'G',
  BinInt = 'J',
  BinInt1 = 'K',
  BinInt2 = 'M',
  None = 'N',
  BinPersistent = 'Q',
  Reduce = 'R',
  BinString = 'T',
  ShortBinString = 'U',
  BinUnicode = 'X',
  EmptyList = ']',
  Append = 'a',
  Build = 'b',
  Global = 'c',
  Dict = 'd',
  Appends = 'e',
  BinGet = 'h',
  Inst = 'i',
  LongBinGet = 'j',
  List = 'l',
  BinPut = 'q',
  LongBinPut = 'r',
  SetItem = 's',
  Tuple = 't',
  SetItems = 'u',
  EmptyTuple = ')',
  EmptyDict = '}',
  BinBytes = 'B',
  ShortBinBytes = 'C',
  Proto = 0x80,
  NewObject = 0x81,
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  True = 0x88,
  False = 0x89,
  Long1 = 0x8a,
  Long4 = 0x8b,
  ShortBinUnicode = 0x8c,
  BinUnicode8 = 0x8d,
  BinBytes8 = 0x8e,
  EmptySet = 0x8f,
  AddItems = 0x90,
  FrozenSet = 0x91,
  StackGlobal = 0x93,
  Memoize = 0x94,
  Frame = 0x95,
  ByteArray8 = 0x96,
};

/// Width of the length prefix of a text or bytes opcode; 0 for other opcodes.
constexpr std::size_t length_width(PickleOp op) {
  switch (op) {
    case PickleOp::ShortBinUnicode:
    case PickleOp::ShortBinString:
    case PickleOp::ShortBinBytes:
      return 1;
    case PickleOp::BinUnicode:
    case PickleOp::BinString:
    case PickleOp::BinBytes:
      return 4;
    case PickleOp::BinUnicode8:
    case PickleOp::BinBytes8:
    case PickleOp::ByteArray8:
      return 8;
    default:
      return 0;
  }
}

}  // namespace ubique::io
