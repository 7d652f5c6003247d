// SPDX-License-Identifier: Apache-2.0
// A TensorFlow.js layers model run one layer after the other: whatever a layer has read is freed
// before the next begins. Knows nothing of how the backend was made ready.
import * as tf from '@tensorflow/tfjs-core';
import type { LayersModel } from '@tensorflow/tfjs-layers';
import type { DeviceWatch } from '../../../shared/engines/device-watch';
import type { Engine, EngineId, LoadedModel, RunOptions, Volume } from './engine';
import type { Shape3 } from '../model';
import { loadTfjsModel } from './tfjs-model';

const EPSILON = 1e-5; // of the instance norm

export interface TfjsSettings {
  id: EngineId;
  title: string;
  halfPrecision?: boolean;
  device?: DeviceWatch; // of backends that a graphics device computes for
  peakBytes: (shape: Shape3) => number;
}

/** By convention a convolution named so is followed by an instance norm without parameters. */
function normalised(x: tf.Tensor): tf.Tensor {
  const { mean, variance } = tf.moments(x, [1, 2, 3], true); // (1, 1, 1, 1, C)
  return tf.div(tf.sub(x, mean), tf.sqrt(tf.add(variance, EPSILON)));
}

function applyLayer(layer: LayersModel['layers'][number], x: tf.Tensor): tf.Tensor {
  return tf.tidy(() => {
    const y = layer.apply(x) as tf.Tensor;
    return layer.name.endsWith('_gn') ? normalised(y) : y;
  });
}

/** A device is only told what to do; having read something, it has done it. */
async function finished(x: tf.Tensor): Promise<void> {
  const corner = tf.slice(x, [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]);
  await corner.data();
  corner.dispose();
}

export async function createTfjsEngine(
  model: LoadedModel,
  settings: TfjsSettings,
): Promise<Engine> {
  tf.enableProdMode(); // no checks of its own between layers
  const network = await loadTfjsModel(model.tfjs);
  const layers = network.layers.slice(1); // the first is the input's place

  async function forward(volume: Volume, options?: RunOptions): Promise<tf.Tensor> {
    let x: tf.Tensor = tf.tensor(volume.values, [1, ...volume.shape, 1]); // (1, D, H, W, 1)
    for (const [index, layer] of layers.entries()) {
      const y = applyLayer(layer, x); // (1, D, H, W, C)
      x.dispose();
      x = y;
      if (settings.device) await finished(x);
      options?.onProgress?.({ done: index + 1, total: layers.length + 1, what: 'layer' });
    }
    return x;
  }

  async function take(x: tf.Tensor, reduce: (x: tf.Tensor) => tf.Tensor): Promise<tf.TypedArray> {
    const reduced = tf.tidy(() => reduce(x));
    x.dispose();
    const values = await reduced.data();
    reduced.dispose();
    return values;
  }

  async function logits(volume: Volume): Promise<Float32Array> {
    const x = await forward(volume);
    const values = await take(x, (y) => tf.transpose(y, [0, 4, 1, 2, 3])); // (1, C, D, H, W)
    return values as Float32Array;
  }

  async function labels(volume: Volume, options?: RunOptions): Promise<Uint8Array> {
    const x = await forward(volume, options);
    return Uint8Array.from(await take(x, (y) => tf.argMax(y, 4))); // (1, D, H, W)
  }

  const guarded = <T>(work: Promise<T>) => settings.device?.unlessLost(work) ?? work;

  return {
    id: settings.id,
    title: settings.title,
    halfPrecision: settings.halfPrecision,
    logits: (volume) => guarded(logits(volume)),
    labels: (volume, options) => guarded(labels(volume, options)),
    peakBytes: settings.peakBytes,
    dispose: async () => {
      network.dispose();
    },
  };
}
