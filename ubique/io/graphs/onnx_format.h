// SPDX-License-Identifier: Apache-2.0
// Field numbers of ONNX's protobuf messages, from its public schema.
#pragma once

#include <array>
#include <utility>

#include "ubique/base/numbers/dtype.h"

namespace ubique::io::onnx {

namespace model {
constexpr int kIrVersion = 1, kProducer = 2, kProducerVersion = 3, kGraph = 7, kOpset = 8,
              kMetadata = 14;
}
namespace opset {
constexpr int kDomain = 1, kVersion = 2;
}
namespace entry {  // of metadata and of external data
constexpr int kKey = 1, kValue = 2;
}
namespace graph {
constexpr int kNode = 1, kName = 2, kConstant = 5, kInput = 11, kOutput = 12;
}
namespace node {
constexpr int kInput = 1, kOutput = 2, kName = 3, kOp = 4, kAttribute = 5, kDomain = 7;
}
namespace attribute {
constexpr int kName = 1, kReal = 2, kInteger = 3, kText = 4, kTensor = 5, kGraph = 6, kReals = 7,
              kIntegers = 8, kKind = 20;
enum Kind { Real = 1, Integer = 2, Text = 3, Tensor = 4, Reals = 6, Integers = 7 };
}  // namespace attribute
namespace tensor {
constexpr int kShape = 1, kType = 2, kReals = 4, kInt32s = 5, kInt64s = 7, kName = 8, kRaw = 9,
              kDoubles = 10, kExternal = 13, kLocation = 14;
constexpr int kInAnotherFile = 1;  // a location
}  // namespace tensor
namespace value {
constexpr int kName = 1, kType = 2;         // ValueInfo
constexpr int kTensorType = 1;              // Type
constexpr int kElement = 1, kShape = 2;     // Type.Tensor
constexpr int kExtent = 1;                  // TensorShape
constexpr int kNumber = 1, kParameter = 2;  // TensorShape.Dimension
}  // namespace value

constexpr std::array<std::pair<DType, int>, 16> kTypes{{
    {DType::F32, 1},
    {DType::U8, 2},
    {DType::I8, 3},
    {DType::U16, 4},
    {DType::I16, 5},
    {DType::I32, 6},
    {DType::I64, 7},
    {DType::Bool, 9},
    {DType::F16, 10},
    {DType::F64, 11},
    {DType::U32, 12},
    {DType::U64, 13},
    {DType::C64, 14},
    {DType::BF16, 16},
    {DType::F8E4M3, 17},
    {DType::F8E5M2, 19},
}};

}  // namespace ubique::io::onnx
