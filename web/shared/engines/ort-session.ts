// SPDX-License-Identifier: Apache-2.0
// One network in onnxruntime-web, whichever its execution provider: values in, values out. Knows
// nothing of how the runtime was loaded or what the values mean.
import type { InferenceSession, Tensor } from 'onnxruntime-web';
import type { DeviceWatch } from './device-watch';

export type Ort = typeof import('onnxruntime-web');

export interface OrtSession {
  /** The first output of a network whose input and output are called so. */
  run(values: Float32Array, shape: readonly number[]): Promise<Float32Array>;
  release(): Promise<void>;
}

export interface OrtRuntime {
  ort: Ort;
  title: string; // 'onnxruntime-web on WebAssembly, 2 threads'
  providers: InferenceSession.SessionOptions['executionProviders'];
  /** Asked once a session stands; for those that a graphics device computes for. */
  device?: () => Promise<DeviceWatch>;
}

export async function createOrtSession(
  { ort, providers, device }: OrtRuntime,
  onnx: Uint8Array,
  options: InferenceSession.SessionOptions = {},
): Promise<OrtSession> {
  const session = await ort.InferenceSession.create(onnx, {
    executionProviders: providers,
    ...options,
  });
  const watch = await device?.();
  return {
    async run(values, shape) {
      const input = new ort.Tensor('float32', values, shape);
      const run = session.run({ input });
      const output: Tensor = (await (watch?.unlessLost(run) ?? run)).output;
      const data = await output.getData(true);
      if (!(data instanceof Float32Array)) throw new Error('The ONNX file does not give float32.');
      return data;
    },
    release: () => session.release(),
  };
}
