// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 that is there and broken: cuInit answers what FAKE_CUDA_INIT says.
#include <cstdlib>

extern "C" int cuInit(unsigned) {
  const char* answer = std::getenv("FAKE_CUDA_INIT");
  return answer != nullptr ? std::atoi(answer) : 999;
}
extern "C" int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_UNKNOWN";
  return 0;
}
