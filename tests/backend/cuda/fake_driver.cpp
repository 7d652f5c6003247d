// SPDX-License-Identifier: Apache-2.0
// A broken libcuda.so.1: cuInit returns the value of FAKE_CUDA_INIT.
#include <cstdlib>

extern "C" int cuInit(unsigned) {
  const char* answer = std::getenv("FAKE_CUDA_INIT");
  return answer != nullptr ? std::atoi(answer) : 999;
}
extern "C" int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_UNKNOWN";
  return 0;
}
