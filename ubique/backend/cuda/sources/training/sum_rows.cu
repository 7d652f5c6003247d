// SPDX-License-Identifier: Apache-2.0
// The sum of the rows of an f32 matrix, in a fixed order: the last step of sums that blocks made of
// their shares. A block has 32 columns, and eight threads for each of them.
constexpr int kThreads = 256, kColumns = 32, kTurns = kThreads / kColumns, kAtOnce = 8;

extern "C" __global__ void __launch_bounds__(kThreads)
    sum_rows(const float* matrix, float* sums, int rows, int columns) {
  const int lane = threadIdx.x % kColumns, turn = threadIdx.x / kColumns;
  const int column = blockIdx.x * kColumns + lane;
  float sum = 0.f;
  for (int first = turn; column < columns && first < rows; first += kAtOnce * kTurns) {
    float values[kAtOnce] = {};
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int row = first + i * kTurns;
      if (row < rows) values[i] = matrix[static_cast<long long>(row) * columns + column];
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) sum += values[i];
  }
  __shared__ float shared[kTurns][kColumns];
  shared[turn][lane] = sum;
  __syncthreads();
  if (turn > 0 || column >= columns) return;
  for (int i = 1; i < kTurns; ++i) sum += shared[i][lane];
  sums[column] = sum;
}
