// SPDX-License-Identifier: Apache-2.0
// A network as `ubique export --format web` writes it: a folder with ubique.json, which says what
// the network is and how scans are prepared for it, and the network in the formats of two runtimes.

export type Shape3 = [number, number, number];

export interface Label {
  name: string;
  colour: [number, number, number];
}

/** How a scan becomes the network's input; the same words as in a checkpoint's header. */
export interface Preprocessing {
  conform: 'scipy_zoom' | 'nibabel_conform' | 'brainchop' | 'none';
  shape: Shape3;
  spacing: number | [number, number, number]; // mm, along every axis or each of them
  normalization: 'min_max' | 'quantile' | 'z_score' | 'none';
  low_quantile: number;
  high_quantile: number;
}

export interface Layer {
  channels: number; // that come out
  kernel: number;
  dilation: number;
}

/** ubique.json */
export interface Manifest {
  format: 'ubique.web-model';
  version: 1;
  family: 'meshnet';
  name: string;
  parameters: number;
  in_channels: number;
  classes: number;
  activation: 'relu' | 'elu' | 'gelu' | 'gelu_tanh';
  norm: 'none' | 'instance'; // batch norms are folded
  layers: Layer[]; // the classifier last
  receptive_field: number; // voxels along one axis: 2 * halo + 1
  preprocessing: Preprocessing;
  labels: Label[]; // one per class
  /** Logits of a small volume of noise as ubique itself computes them: no runtime is trusted
   * before it gives the same. The file holds the input and then the logits, f32, little-endian. */
  check: { file: string; shape: Shape3 };
  files: { onnx: string; tfjs: string }; // beside ubique.json; the latter is a model.json
}
