// SPDX-License-Identifier: Apache-2.0
// Where everything lies in the kernel's memory, and how many bytes that takes. Each layer reads
// from a ring of the planes that it still needs. Knows nothing of threads beyond their number.
import type { Shape3 } from '../../model';
import type { Activation, PlanesLayer } from './network';

export const CONTROL_WORDS = 16; // at address 0, for step.ts
const PAGE = 65536;
const LINE = 64; // bytes of a cache line
const LAYER_WORDS = 16; // of layer.as.ts
const RING_WORDS = 5;
const MIXES = 6; // of winograd.as.ts
const CACHED = 64 * 1024; // bytes of the second cache that every processor can spare
const ACTIVATIONS: Activation[] = ['none', 'relu', 'elu', 'gelu', 'gelu_tanh'];

export interface Ring {
  base: number; // of row 0 of channel 0 of slot 0, like all of these in bytes
  slots: number;
  planeBytes: number;
  channelBytes: number;
  rowBytes: number;
}

export interface Layout {
  shape: Shape3;
  layers: number[]; // addresses of their descriptions
  dilations: number[]; // of the layers
  lags: number[]; // layer i computes plane s - lags[i] in step s
  rings: Ring[]; // in front of each layer, and the last one behind the classifier
  zeros: number; // a row of them
  labels: number; // one plane of bytes, (H, labelRowBytes)
  labelRowBytes: number;
  scratch: number[]; // per thread
  bytes: number; // of memory, whole pages
}

const up = (value: number, multiple: number) => Math.ceil(value / multiple) * multiple;
/** Voxels of a row that the kernel computes: whole vectors. */
const computedWidth = (width: number) => up(width, 8);
/** Voxels that a layer sees on either side of one. */
const reachOf = ({ kernel, dilation }: PlanesLayer) => (dilation * (kernel - 1)) / 2;

/** Steps in which layers compute: a plane is used one step after it was made, or later, so that
 * all layers of a step can work at the same time. */
function lagsOf(layers: PlanesLayer[]): number[] {
  let lag = -1; // the input is there before its step begins
  return layers.map((layer) => (lag += 1 + reachOf(layer)));
}

/** Zeros behind each row are those in front of the next; the vectors of the row's end fit too.
 * Channels lie an odd number of cache lines apart, so that they do not evict one another. Planes
 * have zeros of their own between them: a thread may be writing the one in front. */
function ringOf(channels: number, reach: number, slots: number, shape: Shape3): Ring {
  const [, height, width] = shape;
  const rowBytes = 4 * Math.max(computedWidth(width), up(width + reach, 4));
  const lines = Math.ceil((height * rowBytes) / LINE);
  const channelBytes = LINE * (lines % 2 === 0 ? lines + 1 : lines);
  const planeBytes = channels * channelBytes + up(4 * reach, LINE);
  return { base: 0, slots, planeBytes, channelBytes, rowBytes };
}

function ringsOf(layers: PlanesLayer[], shape: Shape3): Ring[] {
  const rings = layers.map((layer, i) => {
    const reach = reachOf(layer);
    const planes = 2 * reach + (i === 0 ? 1 : 2); // one is written while the others are read
    return ringOf(layer.inputs, reach, Math.min(planes, shape[0]), shape);
  });
  return [...rings, ringOf(layers[layers.length - 1].outputs, 0, 1, shape)];
}

/** Part of a row that winograd.as.ts computes at once: what it mixes should stay in the cache, and
 * the sides of tiles, which are mixed twice, a small part of it. */
function tileBytes({ inputs, dilation }: PlanesLayer, width: number): number {
  const fits = CACHED / (4 * 3 * MIXES * inputs) - 2 * dilation;
  const tile = Math.max(64, 8 * dilation, Math.floor(fits / 8) * 8);
  return 4 * Math.min(computedWidth(width), tile);
}

/** The same with both sides. */
function mixBytes(layer: PlanesLayer, width: number): number {
  return tileBytes(layer, width) + up(8 * layer.dilation, 16);
}

/** A job, its taps, and for kernels of 3 voxels the mixes of rows and their products. */
function scratchBytes(layer: PlanesLayer, width: number): number {
  const { kernel, inputs, outputs } = layer;
  const taps = LINE + 8 * kernel * kernel * inputs;
  const mixes = 3 * inputs * mixBytes(layer, width) + outputs * tileBytes(layer, width);
  return up(taps, LINE) + (kernel === 3 ? MIXES * mixes : 0);
}

export function planLayout(layers: PlanesLayer[], shape: Shape3, threads: number): Layout {
  let end = 4 * CONTROL_WORDS;
  const take = (bytes: number) => {
    const at = end;
    end = up(end + bytes, LINE);
    return at;
  };
  const descriptions = layers.map(({ weights, mixed, biases }) =>
    take(4 * (LAYER_WORDS + 2 * RING_WORDS + weights.length + mixed.length + biases.length)),
  );
  const most = Math.max(...layers.map((layer) => scratchBytes(layer, shape[2])));
  const scratch = Array.from({ length: threads }, () => take(most));
  const zeros = take(Math.max(...layers.map((layer) => mixBytes(layer, shape[2]))));
  const labels = take(shape[1] * computedWidth(shape[2]));
  const rings = ringsOf(layers, shape).map((ring, i) => {
    const reach = i < layers.length ? reachOf(layers[i]) : 0;
    const lead = up(4 * reach, LINE); // zeros in front of the first row
    const last = 4 * reach + LINE; // what vectors read behind the last
    return { ...ring, base: take(lead + ring.slots * ring.planeBytes + last) + lead };
  });
  return {
    shape,
    layers: descriptions,
    dilations: layers.map((layer) => layer.dilation),
    lags: lagsOf(layers),
    rings,
    zeros,
    labels,
    labelRowBytes: computedWidth(shape[2]),
    scratch,
    bytes: up(end, PAGE),
  };
}

/** Puts descriptions, weights and biases in their places; all other memory must be zero. */
export function writeLayers(layers: PlanesLayer[], layout: Layout, buffer: ArrayBufferLike): void {
  const words = new Uint32Array(buffer);
  const floats = new Float32Array(buffer);
  const ringWords = (ring: Ring) => [
    ring.base, ring.slots, ring.planeBytes, ring.channelBytes, ring.rowBytes,
  ];
  for (const [i, layer] of layers.entries()) {
    const source = layout.layers[i] + 4 * LAYER_WORDS;
    const target = source + 4 * RING_WORDS;
    const weights = target + 4 * RING_WORDS;
    const mixed = weights + 4 * layer.weights.length;
    const biases = mixed + 4 * layer.mixed.length;
    words.set(
      [
        layer.kernel, layer.dilation, layer.inputs, layer.outputs,
        ACTIVATIONS.indexOf(layer.activation), ...layout.shape, source, target, weights,
        layer.mixed.length > 0 ? mixed : 0, tileBytes(layer, layout.shape[2]), biases, layout.zeros,
        i + 1 === layers.length ? layout.labels : 0,
        ...ringWords(layout.rings[i]), ...ringWords(layout.rings[i + 1]),
      ],
      layout.layers[i] / 4,
    );
    floats.set(layer.weights, weights / 4);
    floats.set(layer.mixed, mixed / 4);
    floats.set(layer.biases, biases / 4);
  }
}
