// SPDX-License-Identifier: Apache-2.0
// The AdamATan2 update and the moving average of the weights for many tensors in one pass over memory.
// If the flag marks the gradients as non-finite, only the averages are updated.

struct Tensors {
  float* weight;
  const float* gradient;
  float* mean;
  float* square;
  float* average;  // null = none
  long long count;
  long long first_block;
};

struct Update {
  Tensors tensors[TENSORS];
  int used;
  float share1, share2;  // 1 - beta, computed in double: in f32 it would lose digits
  float log1, log2;      // log(beta)
  float decay, average_share;
};

extern "C" __global__ void adam_atan2(const __grid_constant__ Update update, const float* lr,
                                      const float* step, const float* bad) {
  int which = 0;
  while (which + 1 < update.used && blockIdx.x >= update.tensors[which + 1].first_block) ++which;
  const Tensors& t = update.tensors[which];
  const long long start = (blockIdx.x - t.first_block) * PER_BLOCK;
  const bool skip = *bad > 0.f;
  const float taken = fmaxf(*step, 1.f), rate = *lr;
  const float correction1 = -expm1f(taken * update.log1);
  const float root2 = sqrtf(-expm1f(taken * update.log2));
  for (long long i = start + threadIdx.x; i < min(start + PER_BLOCK, t.count); i += blockDim.x) {
    float weight = t.weight[i];
    if (!skip) {
      const float gradient = t.gradient[i];
      float mean = t.mean[i], square = t.square[i];
      mean += update.share1 * (gradient - mean);
      square += update.share2 * (gradient * gradient - square);
      weight *= 1.f - rate * update.decay;
      weight -= rate / correction1 * atan2f(mean, sqrtf(square) / root2);
      t.mean[i] = mean;
      t.square[i] = square;
      t.weight[i] = weight;
    }
    if (t.average != nullptr) t.average[i] += update.average_share * (weight - t.average[i]);
  }
}
