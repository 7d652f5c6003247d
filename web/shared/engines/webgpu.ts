// SPDX-License-Identifier: Apache-2.0
// Whether the browser has WebGPU, asked before a runtime for it is downloaded.
/// <reference types="@webgpu/types" />

/** The adapter, or why there is none, for people. */
export async function webgpuAdapter(): Promise<GPUAdapter | string> {
  if (!('gpu' in navigator)) return 'this browser has no WebGPU';
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
  return adapter ?? 'WebGPU finds no graphics device here';
}

/** The largest tensor a shader can read at once, in bytes. */
export function largestBinding(adapter: GPUAdapter): number {
  return Math.min(adapter.limits.maxBufferSize, adapter.limits.maxStorageBufferBindingSize);
}
