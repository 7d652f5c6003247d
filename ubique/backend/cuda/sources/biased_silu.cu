// SPDX-License-Identifier: Apache-2.0
// sum = x + bias + residual, where there is one, and x = its SiLU. Channels lie side by side:
// `vectors` of them belong to a position.
#include "values.cuh"

extern "C" __global__ void biased_silu(Vector* x, const Vector* bias, const Vector* residual,
                                       Vector* sum, long long items, int vectors) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < items;
       i += stride) {
    float values[kLanes], added[kLanes];
    unpack(x[i], values);
    unpack(bias[i % vectors], added);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) values[lane] += added[lane];
    if (residual != nullptr) {
      unpack(residual[i], added);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) values[lane] += added[lane];
      sum[i] = pack(values);
    }
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) values[lane] /= 1.f + __expf(-values[lane]);
    x[i] = pack(values);
  }
}
