// SPDX-License-Identifier: Apache-2.0
// An engine out of a session of onnxruntime-web, whichever its execution provider. Knows nothing
// of how the runtime was loaded.
import type { InferenceSession } from 'onnxruntime-web';
import { type OrtRuntime, createOrtSession } from '../../../shared/engines/ort-session';
import type { Engine, EngineId, LoadedModel, Volume } from './engine';
import type { Shape3 } from '../model';
import { argmax } from './argmax';

export interface OrtSettings {
  id: EngineId;
  options?: InferenceSession.SessionOptions;
  peakBytes: (shape: Shape3) => number;
}

export async function createOrtEngine(
  runtime: OrtRuntime,
  model: LoadedModel,
  settings: OrtSettings,
): Promise<Engine> {
  const session = await createOrtSession(runtime, model.onnx, settings.options);
  const { classes } = model.manifest;
  const logits = ({ shape, values }: Volume) =>
    session.run(values, [1, 1, ...shape]); // (1, classes, D, H, W)
  return {
    id: settings.id,
    title: runtime.title,
    silent: true,
    logits,
    labels: async (volume) => argmax(await logits(volume), classes),
    peakBytes: settings.peakBytes,
    dispose: () => session.release(),
  };
}
