// SPDX-License-Identifier: Apache-2.0
// A TensorFlow.js layers model out of the bytes of its files. Knows nothing of backends.
import { io } from '@tensorflow/tfjs-core';
import { type LayersModel, loadLayersModel } from '@tensorflow/tfjs-layers';
import type { LoadedModel } from './engine';

interface LayerEntry {
  class_name: string;
  config: { batch_input_shape?: (number | null)[] };
}

interface Document {
  modelTopology: { model_config: { config: { layers: LayerEntry[] } } };
  weightsManifest: { weights: io.WeightsManifestEntry[] }[];
}

export async function loadTfjsModel({
  document,
  weights,
}: LoadedModel['tfjs']): Promise<LayersModel> {
  const copy = structuredClone(document) as Document;
  freeShape(copy);
  return loadLayersModel(
    io.fromMemory({
      modelTopology: copy.modelTopology,
      weightSpecs: copy.weightsManifest.flatMap((group) => group.weights),
      weightData: weights.slice().buffer,
    }),
  );
}

/** The shape in the file is that of the volumes it was trained on; it binds nobody. */
function freeShape(document: Document): void {
  for (const layer of document.modelTopology.model_config.config.layers) {
    const shape = layer.config.batch_input_shape;
    if (shape) layer.config.batch_input_shape = [null, null, null, null, shape[shape.length - 1]];
  }
}
