// SPDX-License-Identifier: Apache-2.0
// Batch norm, activation and channel dropout with the fewest passes over memory: forward reads twice
// and writes once, backward reads four times and writes once. LibTorch's separate ops take three to
// four times as long. Channels last; the number of channels is a multiple of the vector lanes, and
// each thread keeps the same channels. Partial sums, one row per block, are added in a fixed order,
// so that results are reproducible bit by bit.
// ACTIVATION: kernels::Activation's order (none, relu, elu, gelu, gelu by tanh).
#include "values.cuh"

__device__ inline float activated(float z) {
#if ACTIVATION == 1
  return z < 0.f ? 0.f : z;  // NaN stays NaN
#elif ACTIVATION == 2
  return z > 0.f ? z : expm1f(z);
#elif ACTIVATION == 3
  return 0.5f * z * (1.f + erff(z * 0.70710678f));
#elif ACTIVATION == 4
  return 0.5f * z * (1.f + tanhf(0.79788456f * (z + 0.044715f * z * z * z)));
#else
  return z;
#endif
}

__device__ inline float slope(float z) {
#if ACTIVATION == 1
  return z <= 0.f ? 0.f : 1.f;
#elif ACTIVATION == 2
  return z > 0.f ? 1.f : expf(z);
#elif ACTIVATION == 3
  return 0.5f * (1.f + erff(z * 0.70710678f)) + z * 0.39894228f * expf(-0.5f * z * z);
#elif ACTIVATION == 4
  const float t = tanhf(0.79788456f * (z + 0.044715f * z * z * z));
  return 0.5f * (1.f + t) + 0.5f * z * (1.f - t * t) * 0.79788456f * (1.f + 0.134145f * z * z);
#else
  return 1.f;
#endif
}

struct Norm {
  const float *weight, *bias, *mean, *inverse_deviation;  // (C)
  const float* dropout;                                   // (B, C) or null
  long long sample_vectors;                               // vectors per sample
  int groups;                                             // vectors per voxel
};

struct Channels {
  float scale[kLanes], shift[kLanes];  // z = x * scale + shift

  __device__ Channels(const Norm& norm, int group) {
#pragma unroll
    for (int i = 0; i < kLanes; ++i) {
      const int c = group * kLanes + i;
      scale[i] = norm.weight[c] * norm.inverse_deviation[c];
      shift[i] = norm.bias[c] - norm.mean[c] * scale[i];
    }
  }
};

__device__ inline long long first_vector() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline long long stride() { return static_cast<long long>(gridDim.x) * blockDim.x; }

__device__ inline const float* factors(const Norm& norm, long long vector, int group) {
  if (norm.dropout == nullptr) return nullptr;
  return norm.dropout + (vector / norm.sample_vectors * norm.groups + group) * kLanes;
}

// Reduces every thread's two sums to one row (2, C) of `partial`.
__device__ inline void write_row(const float (&a)[kLanes], const float (&b)[kLanes], int groups,
                                 float* partial) {
  extern __shared__ float sums[];  // (2, threads, lanes)
  const int quantity = blockDim.x * kLanes, channels = groups * kLanes;
  for (int i = 0; i < kLanes; ++i) {
    sums[threadIdx.x * kLanes + i] = a[i];
    sums[quantity + threadIdx.x * kLanes + i] = b[i];
  }
  // Adds the upper half to the lower until one voxel is left.
  int voxels = blockDim.x / groups;
  __syncthreads();
  while (voxels > 1) {
    const int kept = (voxels + 1) / 2, added = (voxels - kept) * channels;
    for (int i = threadIdx.x; i < added; i += blockDim.x) {
      sums[i] += sums[kept * channels + i];
      sums[quantity + i] += sums[quantity + kept * channels + i];
    }
    voxels = kept;
    __syncthreads();
  }
  for (int c = threadIdx.x; c < channels; c += blockDim.x) {
    partial[blockIdx.x * 2 * channels + c] = sums[c];
    partial[(blockIdx.x * 2 + 1) * channels + c] = sums[quantity + c];
  }
}

// Adds up both columns of a channel in one block; thread 0 has the result.
__device__ inline void add_rows(const float* partial, int rows, int channels, double& a,
                                double& b) {
  __shared__ double column[2][128];
  a = b = 0;
  for (int row = threadIdx.x; row < rows; row += 128) {
    a += partial[row * 2 * channels + blockIdx.x];
    b += partial[(row * 2 + 1) * channels + blockIdx.x];
  }
  column[0][threadIdx.x] = a;
  column[1][threadIdx.x] = b;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      column[0][threadIdx.x] += column[0][threadIdx.x + half];
      column[1][threadIdx.x] += column[1][threadIdx.x + half];
    }
  }
  a = column[0][0];
  b = column[1][0];
}

// Sums of x - pivot and its square. The pivot, each channel's first value, avoids cancellation when
// values are far from zero.
extern "C" __global__ void norm_moments(const Vector* x, long long vectors, int groups,
                                        float* partial) {
  const int group = threadIdx.x % groups;
  float pivot[kLanes], sum[kLanes] = {}, square[kLanes] = {};
  unpack(x[group], pivot);
  for (long long i = first_vector(); i < vectors; i += stride()) {
    float value[kLanes];
    unpack(x[i], value);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      const float off = value[lane] - pivot[lane];
      sum[lane] += off;
      square[lane] += off * off;
    }
  }
  write_row(sum, square, groups, partial);
}

extern "C" __global__ void norm_statistics(const Vector* x, const float* partial, int rows,
                                           int groups, double count, double epsilon, float* mean,
                                           float* inverse_deviation) {
  double sum, square;
  add_rows(partial, rows, groups * kLanes, sum, square);
  if (threadIdx.x > 0) return;
  float pivot[kLanes];
  unpack(x[blockIdx.x / kLanes], pivot);
  const double off = sum / count, variance = square / count - off * off;
  float own = pivot[0];
#pragma unroll
  for (int lane = 1; lane < kLanes; ++lane) {
    if (blockIdx.x % kLanes == lane) own = pivot[lane];
  }
  mean[blockIdx.x] = own + off;
  inverse_deviation[blockIdx.x] = rsqrt((variance < 0 ? 0 : variance) + epsilon);
}

extern "C" __global__ void norm_act(const Vector* x, Vector* result, long long vectors, Norm norm) {
  const int group = threadIdx.x % norm.groups;
  const Channels channels(norm, group);
  for (long long i = first_vector(); i < vectors; i += stride()) {
    float value[kLanes];
    unpack(x[i], value);
    const float* factor = factors(norm, i, group);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      value[lane] = activated(value[lane] * channels.scale[lane] + channels.shift[lane]);
      if (factor != nullptr) value[lane] *= factor[lane];
    }
    result[i] = pack(value);
  }
}

// The gradient of z at one vector.
__device__ inline void gradient_of_z(const Vector& gradient, const float (&x)[kLanes],
                                     const Channels& channels, const float* factor,
                                     float (&result)[kLanes]) {
  unpack(gradient, result);
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) {
    if (factor != nullptr) result[lane] *= factor[lane];
    const float along = slope(x[lane] * channels.scale[lane] + channels.shift[lane]);
    result[lane] = along == 0.f ? 0.f : result[lane] * along;
  }
}

// Sums of d(z) and of d(z) times normalised x: the gradients of bias and weight.
extern "C" __global__ void norm_gradient_sums(const Vector* gradient, const Vector* x,
                                              long long vectors, Norm norm, float* partial) {
  const int group = threadIdx.x % norm.groups;
  const Channels channels(norm, group);
  float mean[kLanes], of_bias[kLanes] = {}, of_weight[kLanes] = {};
  for (int lane = 0; lane < kLanes; ++lane) mean[lane] = norm.mean[group * kLanes + lane];
  for (long long i = first_vector(); i < vectors; i += stride()) {
    float value[kLanes], of_z[kLanes];
    unpack(x[i], value);
    gradient_of_z(gradient[i], value, channels, factors(norm, i, group), of_z);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      of_bias[lane] += of_z[lane];
      of_weight[lane] += of_z[lane] * (value[lane] - mean[lane]);
    }
  }
  write_row(of_bias, of_weight, norm.groups, partial);
}

extern "C" __global__ void norm_gradient_totals(const float* partial, int rows, Norm norm,
                                                float* of_weight, float* of_bias) {
  double bias, weight;
  add_rows(partial, rows, norm.groups * kLanes, bias, weight);
  if (threadIdx.x > 0) return;
  of_bias[blockIdx.x] = bias;
  of_weight[blockIdx.x] = weight * norm.inverse_deviation[blockIdx.x];
}

// Gradient of x, in place of `gradient`.
extern "C" __global__ void norm_act_gradient(Vector* gradient, const Vector* x, long long vectors,
                                             Norm norm, const float* of_weight,
                                             const float* of_bias, float per_value) {
  const int group = threadIdx.x % norm.groups;
  const Channels channels(norm, group);
  float slope_x[kLanes], offset[kLanes];  // correction for the dependence of the statistics on x
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) {
    const int c = group * kLanes + lane;
    slope_x[lane] = of_weight[c] * per_value * norm.inverse_deviation[c];
    offset[lane] = of_bias[c] * per_value - norm.mean[c] * slope_x[lane];
  }
  for (long long i = first_vector(); i < vectors; i += stride()) {
    float value[kLanes], of_z[kLanes];
    unpack(x[i], value);
    gradient_of_z(gradient[i], value, channels, factors(norm, i, group), of_z);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      of_z[lane] = channels.scale[lane] * (of_z[lane] - offset[lane] - value[lane] * slope_x[lane]);
    }
    gradient[i] = pack(of_z);
  }
}
