// SPDX-License-Identifier: Apache-2.0
// The setters used here keep LibTorch's two sets of precision flags in step; setting only one of
// them makes a later query throw.
#include "ubique/probe/core/strict.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

namespace ubique::probe {
namespace {

const char* name_of(at::Float32MatmulPrecision precision) {
  switch (precision) {
    case at::Float32MatmulPrecision::HIGH:
      return "high";
    case at::Float32MatmulPrecision::MEDIUM:
      return "medium";
    case at::Float32MatmulPrecision::HIGHEST:
      break;
  }
  return "highest";
}

bool allows_reduction(at::CuBLASReductionOption option) {
  return option == at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
}

bool allows_split(at::CuBLASReductionOption option) {
  return option != at::CuBLASReductionOption::DisallowReducedPrecisionDisallowSplitK;
}

}  // namespace

struct StrictNumerics::Saved {
  at::Context& context = at::globalContext();
  at::Float32MatmulPrecision matmul = context.float32MatmulPrecision();
  bool convolution_tf32 = context.allowTF32CuDNN(at::Float32Op::CONV);
  at::CuBLASReductionOption half = context.allowFP16ReductionCuBLAS();
  at::CuBLASReductionOption bfloat = context.allowBF16ReductionCuBLAS();
  bool half_accumulation = context.allowFP16AccumulationCuBLAS();
  bool half_attention = context.allowFP16BF16ReductionMathSDP();
  bool half_cpu = context.allowFP16ReductionCPU();
  bool benchmark = context.benchmarkCuDNN();
};

StrictNumerics::StrictNumerics() : saved_(std::make_unique<Saved>()) {
  auto& context = saved_->context;
  context.setFloat32MatmulPrecision("highest");
  context.setAllowTF32CuDNN(false);
  context.setAllowFP16ReductionCuBLAS(false);
  context.setAllowBF16ReductionCuBLAS(false);
  context.setAllowFP16AccumulationCuBLAS(false);
  context.setAllowFP16BF16ReductionMathSDP(false);
  if (saved_->half_cpu) context.setAllowFP16ReductionCPU(false);  // the setter throws off ARM
  context.setBenchmarkCuDNN(false);                               // the same algorithm each time
}

StrictNumerics::~StrictNumerics() {
  auto& context = saved_->context;
  context.setFloat32MatmulPrecision(name_of(saved_->matmul));
  context.setAllowTF32CuDNN(saved_->convolution_tf32);
  context.setAllowFP16ReductionCuBLAS(allows_reduction(saved_->half), allows_split(saved_->half));
  context.setAllowBF16ReductionCuBLAS(allows_reduction(saved_->bfloat),
                                      allows_split(saved_->bfloat));
  context.setAllowFP16AccumulationCuBLAS(saved_->half_accumulation);
  context.setAllowFP16BF16ReductionMathSDP(saved_->half_attention);
  if (saved_->half_cpu) context.setAllowFP16ReductionCPU(true);
  context.setBenchmarkCuDNN(saved_->benchmark);
}

}  // namespace ubique::probe
