// SPDX-License-Identifier: Apache-2.0
// An engine out of a session of onnxruntime-web, whichever its execution provider. Knows nothing
// of how the runtime was loaded.
import type { InferenceSession, Tensor } from 'onnxruntime-web';
import type { DeviceWatch } from './device-watch';
import type { Engine, EngineId, LoadedModel, Volume } from './engine';
import type { Shape3 } from '../model';
import { argmax } from './argmax';

export type Ort = typeof import('onnxruntime-web');

export interface OrtSettings {
  id: EngineId;
  title: string;
  session: InferenceSession.SessionOptions;
  peakBytes: (shape: Shape3) => number;
  /** Asked once the session stands; for those that a graphics device computes for. */
  device?: () => Promise<DeviceWatch>;
}

export async function createOrtEngine(
  ort: Ort,
  model: LoadedModel,
  settings: OrtSettings,
): Promise<Engine> {
  const session = await ort.InferenceSession.create(model.onnx, settings.session);
  const { classes } = model.manifest;
  const device = await settings.device?.();

  async function logits(volume: Volume): Promise<Float32Array> {
    const input = new ort.Tensor('float32', volume.values, [1, 1, ...volume.shape]);
    const run = session.run({ input });
    const output: Tensor = (await (device?.unlessLost(run) ?? run)).output; // (1, classes, D, H, W)
    const values = await output.getData(true);
    if (!(values instanceof Float32Array)) throw new Error('The ONNX file does not give float32.');
    return values;
  }

  return {
    id: settings.id,
    title: settings.title,
    silent: true,
    logits,
    labels: async (volume) => argmax(await logits(volume), classes),
    peakBytes: settings.peakBytes,
    dispose: () => session.release(),
  };
}
