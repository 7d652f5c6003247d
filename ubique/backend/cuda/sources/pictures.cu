// SPDX-License-Identifier: Apache-2.0
// Image ops, each in one pass over memory: 2x upsampling, 2x2 max pooling, the gradients of ReLU and
// bias, mean subtraction, a 3x3 convolution to one channel, min-max scaling. Channels last; the number
// of channels is a multiple of the vector lanes. Partial sums, one row per block, are added in a fixed
// order, so that results are reproducible bit by bit.
#include "values.cuh"

struct Extent {
  int rows;            // over all samples
  int height, width;   // per sample
  int groups;          // vectors per pixel
};

__device__ inline long long first_vector() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline long long stride() { return static_cast<long long>(gridDim.x) * blockDim.x; }

struct Place {
  int group, column, row;  // the row counts over all samples

  __device__ Place(long long vector, const Extent& extent) {
    group = static_cast<int>(vector % extent.groups);
    const long long pixel = vector / extent.groups;
    column = static_cast<int>(pixel % extent.width);
    row = static_cast<int>(pixel / extent.width);
  }
};

__device__ inline long long vectors_of(const Extent& extent) {
  return static_cast<long long>(extent.rows) * extent.width * extent.groups;
}

// `extent` is that of x.
extern "C" __global__ void upsample_twice(const Vector* x, Vector* y, Extent extent) {
  const int groups = extent.groups, wide = extent.width * groups;
  for (long long i = first_vector(); i < vectors_of(extent); i += stride()) {
    const Place place(i, extent);
    const int right = place.column + 1 < extent.width ? groups : 0;
    const int below = place.row % extent.height + 1 < extent.height ? wide : 0;
    float a[kLanes], b[kLanes], c[kLanes], d[kLanes];
    unpack(x[i], a);
    unpack(x[i + right], b);
    unpack(x[i + below], c);
    unpack(x[i + below + right], d);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      d[lane] = 0.25f * ((a[lane] + b[lane]) + (c[lane] + d[lane]));
      b[lane] = 0.5f * (a[lane] + b[lane]);
      c[lane] = 0.5f * (a[lane] + c[lane]);
    }
    const long long out = (4LL * place.row * extent.width + 2 * place.column) * groups + place.group;
    y[out] = x[i];
    y[out + groups] = pack(b);
    y[out + 2 * wide] = pack(c);
    y[out + 2 * wide + groups] = pack(d);
  }
}

// Weight with which output 2i - 1, 2i or 2i + 1 depends on input i: 1 for the last output.
__device__ inline float share_along(int offset, int place, int extent) {
  if (offset < 0) return place > 0 ? 0.5f : 0.f;
  return offset == 0 || place + 1 == extent ? 1.f : 0.5f;
}

// `extent` is that of the result.
extern "C" __global__ void upsample_twice_gradient(const Vector* gradient, Vector* result,
                                                   Extent extent) {
  const int groups = extent.groups, wide = 2 * extent.width * groups;
  for (long long i = first_vector(); i < vectors_of(extent); i += stride()) {
    const Place place(i, extent);
    const long long at = (4LL * place.row * extent.width + 2 * place.column) * groups + place.group;
    float sum[kLanes] = {};
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy) {
      const float down = share_along(dy, place.row % extent.height, extent.height);
#pragma unroll
      for (int dx = -1; dx <= 1; ++dx) {
        const float share = down * share_along(dx, place.column, extent.width);
        if (share == 0.f) continue;
        float value[kLanes];
        unpack(gradient[at + dy * wide + dx * groups], value);
#pragma unroll
        for (int lane = 0; lane < kLanes; ++lane) sum[lane] += share * value[lane];
      }
    }
    result[i] = pack(sum);
  }
}

struct alignas(kLanes) Marks {
  unsigned char of[kLanes];
};

// `extent` is that of the result; x is STRIDE times as high and wide.
extern "C" __global__ void max_pool(const Vector* x, Vector* y, Marks* where, Extent extent) {
  const int groups = extent.groups, wide = STRIDE * extent.width * groups;
  for (long long i = first_vector(); i < vectors_of(extent); i += stride()) {
    const Place place(i, extent);
    const long long at =
        (1LL * STRIDE * STRIDE * place.row * extent.width + STRIDE * place.column) * groups +
        place.group;
    float best[kLanes];
    Marks mark = {};
    unpack(x[at], best);
#pragma unroll
    for (int corner = 1; corner < 4; ++corner) {
      const int dx = corner % 2, dy = corner / 2;
      if (STRIDE == 1 && (place.column + dx >= extent.width ||
                          place.row % extent.height + dy >= extent.height)) {
        continue;
      }
      float value[kLanes];
      unpack(x[at + dy * wide + dx * groups], value);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        if (value[lane] > best[lane] || value[lane] != value[lane]) {  // NaN stays NaN
          best[lane] = value[lane];
          mark.of[lane] = corner;
        }
      }
    }
    y[i] = pack(best);
    if (where != nullptr) where[i] = mark;
  }
}

// `extent` is that of the gradient.
extern "C" __global__ void max_pool_gradient(const Vector* gradient, const Marks* where,
                                             Vector* result, Extent extent) {
  const int groups = extent.groups;
  for (long long i = first_vector(); i < vectors_of(extent); i += stride()) {
    const Place place(i, extent);
#if STRIDE == 2
    const long long at = (4LL * place.row * extent.width + 2 * place.column) * groups + place.group;
    float value[kLanes];
    unpack(gradient[i], value);
    const Marks mark = where[i];
#pragma unroll
    for (int corner = 0; corner < 4; ++corner) {
      float share[kLanes];
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        share[lane] = mark.of[lane] == corner ? value[lane] : 0.f;
      }
      result[at + (2 * extent.width * (corner / 2) + corner % 2) * groups] = pack(share);
    }
#else
    float sum[kLanes] = {};
#pragma unroll
    for (int corner = 0; corner < 4; ++corner) {  // the window that has this pixel as that corner
      const int dx = corner % 2, dy = corner / 2;
      if (place.column < dx || place.row % extent.height < dy) continue;
      const long long window = i - (dy * extent.width + dx) * groups;
      float value[kLanes];
      unpack(gradient[window], value);
      const Marks mark = where[window];
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        if (mark.of[lane] == corner) sum[lane] += value[lane];
      }
    }
    result[i] = pack(sum);
#endif
  }
}

// Each thread keeps the same channels; a block's sums go to one row of `partial`.
extern "C" __global__ void relu_gradient(const Vector* gradient, const Vector* y, Vector* result,
                                         long long vectors, int groups, float* partial) {
  extern __shared__ float sums[];  // (threads, lanes)
  float sum[kLanes] = {};
  for (long long i = first_vector(); i < vectors; i += stride()) {
    float value[kLanes], clipped[kLanes];
    unpack(gradient[i], value);
    unpack(y[i], clipped);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      if (clipped[lane] <= 0.f) value[lane] = 0.f;
      sum[lane] += value[lane];
    }
    result[i] = pack(value);
  }
  for (int lane = 0; lane < kLanes; ++lane) sums[threadIdx.x * kLanes + lane] = sum[lane];
  const int channels = groups * kLanes;
  int pixels = blockDim.x / groups;
  __syncthreads();
  while (pixels > 1) {  // adds the upper half to the lower until one pixel is left
    const int kept = (pixels + 1) / 2, added = (pixels - kept) * channels;
    for (int i = threadIdx.x; i < added; i += blockDim.x) sums[i] += sums[kept * channels + i];
    pixels = kept;
    __syncthreads();
  }
  for (int c = threadIdx.x; c < channels; c += blockDim.x) {
    partial[static_cast<long long>(blockIdx.x) * channels + c] = sums[c];
  }
}

// One block of 128 threads per channel.
extern "C" __global__ void add_rows(const float* partial, int rows, float* total) {
  __shared__ double column[128];
  double sum = 0;
  for (int row = threadIdx.x; row < rows; row += 128) {
    sum += partial[static_cast<long long>(row) * gridDim.x + blockIdx.x];
  }
  column[threadIdx.x] = sum;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) column[threadIdx.x] += column[threadIdx.x + half];
  }
  if (threadIdx.x == 0) total[blockIdx.x] = static_cast<float>(column[0]);
}

#if FROM == 0
typedef unsigned char Pixel;
#else
typedef float Pixel;
#endif

// Planes (B, 3, H, W) to pixels (B, H, W, 3), minus the mean of each channel.
extern "C" __global__ void subtract_means(const Pixel* image, Scalar* result, long long pixels,
                                          int plane, float a, float b, float c) {
  for (long long i = first_vector(); i < pixels; i += stride()) {
    const Pixel* from = image + i / plane * 3 * plane + i % plane;
    result[3 * i] = to_scalar(from[0] - a);
    result[3 * i + 1] = to_scalar(from[plane] - b);
    result[3 * i + 2] = to_scalar(from[2 * plane] - c);
  }
}

// A 3x3 convolution to one channel with zero padding: too small for tensor cores. A thread keeps the
// weights of its vector of channels, and the GROUPS threads of a pixel add their sums. `extent` is
// that of x.
extern "C" __global__ void convolve_to_one(const Vector* x, const float* weight, const float* bias,
                                           float* result, Extent extent) {
  const int group = threadIdx.x % GROUPS;
  float taps[9][kLanes];
#pragma unroll
  for (int tap = 0; tap < 9; ++tap) {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      taps[tap][lane] = weight[(tap * GROUPS + group) * kLanes + lane];
    }
  }
  const long long pixels = static_cast<long long>(extent.rows) * extent.width;
  const long long step = stride() / GROUPS;
  // All threads of a warp stay in the loop together, because they exchange sums.
  for (long long base = first_vector() / GROUPS; base - threadIdx.x / GROUPS < pixels; base += step) {
    const long long pixel = base < pixels ? base : pixels - 1;
    const int column = static_cast<int>(pixel % extent.width);
    const int row = static_cast<int>(pixel / extent.width % extent.height);
    float sum = 0.f;
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      const int dy = tap / 3 - 1, dx = tap % 3 - 1;
      if (row + dy < 0 || row + dy >= extent.height || column + dx < 0 ||
          column + dx >= extent.width) {
        continue;
      }
      float value[kLanes];
      unpack(x[(pixel + dy * extent.width + dx) * GROUPS + group], value);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) sum += value[lane] * taps[tap][lane];
    }
#pragma unroll
    for (int away = GROUPS / 2; away > 0; away /= 2) sum += __shfl_xor_sync(~0u, sum, away);
    if (group == 0 && base < pixels) result[base] = sum + bias[0];
  }
}

// Minimum and maximum of a part of a sample, (B, PARTS, 2); one block of 256 threads per part.
extern "C" __global__ void ranges(const float* map, float2* partial, int values) {
  __shared__ float low[8], high[8];
  const float* from = map + static_cast<long long>(blockIdx.x / PARTS) * values;
  const int part = blockIdx.x % PARTS;
  float least = from[0], most = from[0];
  for (int i = part * 256 + threadIdx.x; i < values; i += PARTS * 256) {
    const float value = from[i];
    least = value < least || value != value ? value : least;  // NaN stays NaN
    most = value > most || value != value ? value : most;
  }
  for (int away = 16; away > 0; away /= 2) {
    const float l = __shfl_xor_sync(~0u, least, away), m = __shfl_xor_sync(~0u, most, away);
    least = l < least || l != l ? l : least;
    most = m > most || m != m ? m : most;
  }
  if (threadIdx.x % 32 == 0) {
    low[threadIdx.x / 32] = least;
    high[threadIdx.x / 32] = most;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < 8; ++warp) {
    least = low[warp] < least || low[warp] != low[warp] ? low[warp] : least;
    most = high[warp] > most || high[warp] != high[warp] ? high[warp] : most;
  }
  partial[blockIdx.x] = make_float2(least, most);
}

// Scales each sample to 0..1, PARTS blocks per sample.
extern "C" __global__ void stretch(const float* map, const float2* partial, float* result,
                                   int values, float epsilon) {
  const int sample = blockIdx.x / PARTS, part = blockIdx.x % PARTS;
  float least = partial[sample * PARTS].x, most = partial[sample * PARTS].y;
  for (int i = 1; i < PARTS; ++i) {
    const float2 range = partial[sample * PARTS + i];
    least = range.x < least || range.x != range.x ? range.x : least;
    most = range.y > most || range.y != range.y ? range.y : most;
  }
  const float range = (most - least) + epsilon;
  const long long start = static_cast<long long>(sample) * values;
  for (int i = part * 256 + threadIdx.x; i < values; i += PARTS * 256) {
    result[start + i] = (map[start + i] - least) / range;
  }
}
