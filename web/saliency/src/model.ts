// SPDX-License-Identifier: Apache-2.0
// A network as `ubique export msinet --format web` writes it: a folder with ubique.json, which says
// what the network is, the network itself, and numbers to hold ours against.

export type Size = readonly [height: number, width: number];

/** ubique.json */
export interface Manifest {
  format: 'ubique.web-model';
  version: 1;
  family: 'msinet';
  name: string;
  parameters: number;
  dataset: string; // that it has learned from; may be empty
  weights: 'f32' | 'f16';
  size: Size; // that it has learned at
  sizes: Size[]; // of frames to choose from, the smallest first
  pad: number; // around pictures of another shape, 0 to 255
  /** A frame and its map, f32, as ubique computes it: no runtime is trusted before it agrees. */
  check: { file: string; shape: Size };
  /** A picture, and each of ubique's steps from it to its map: frame (3, h, w), the frame's map
   * (h, w) from 0 to 1, the map at the picture's size (H, W) from 0 to 255; f32. */
  picture: { file: string; values: string; size: Size; frame: Size };
  files: { onnx: string };
}

export interface LoadedModel {
  manifest: Manifest;
  onnx: Uint8Array;
  check: { input: Float32Array; map: Float32Array };
  picture: { file: Uint8Array; frame: Float32Array; map: Float32Array; whole: Float32Array };
}

export const areaOf = ([height, width]: Size): number => height * width;
export const sizeText = ([height, width]: Size): string => `${height} × ${width}`;
export const sameSize = (a: Size, b: Size): boolean => a[0] === b[0] && a[1] === b[1];
