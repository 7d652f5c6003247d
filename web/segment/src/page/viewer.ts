// SPDX-License-Identifier: Apache-2.0
// The scan and its labels in NiiVue: three planes and a rendering. Loaded when there is something
// to show. Where WebGL 2 is missing the page goes on without pictures.
import type { NVImage, Niivue } from '@niivue/niivue';
import type { Label, Shape3 } from '../model';
import { byId } from '../../../shared/page/elements';

const canvas = byId('canvas', HTMLCanvasElement);
const empty = byId('empty', HTMLParagraphElement);
const crosshair = byId('crosshair', HTMLOutputElement);
const opacityBox = byId('opacity-box', HTMLLabelElement);
const opacity = byId('opacity', HTMLInputElement);

interface Location {
  mm: ArrayLike<number>;
  vox: ArrayLike<number>;
  values: { value: number }[];
}

interface Labels {
  values: Uint8Array; // (i, j, k), last fastest
  shape: Shape3;
  names: string[];
}

let labels: Labels | undefined;
let started: Promise<Niivue> | undefined;

function labelAt(vox: ArrayLike<number>): string {
  if (!labels) return '';
  const { shape, values, names } = labels;
  const [i, j, k] = [0, 1, 2].map((axis) => Math.round(vox[axis]));
  const label = values[(i * shape[1] + j) * shape[2] + k];
  return label === undefined ? '' : ` · ${names[label] ?? `label ${label}`}`;
}

function showLocation(location: unknown): void {
  const { mm, vox, values } = location as Location;
  const place = [0, 1, 2].map((axis) => mm[axis].toFixed(0)).join(', ');
  const value = values[0]?.value;
  const brightness = value === undefined ? '' : ` · ${Number(value.toPrecision(4))}`;
  crosshair.textContent = `${place} mm${brightness}${labelAt(vox)}`;
}

async function start(): Promise<Niivue> {
  const { Niivue: Viewer, SHOW_RENDER, MULTIPLANAR_TYPE } = await import('@niivue/niivue');
  const viewer = new Viewer({
    backColor: [0, 0, 0, 1],
    crosshairColor: [0.31, 0.82, 0.75, 0.9],
    crosshairWidth: 0.4,
    dragAndDropEnabled: false,
    isColorbar: false,
    loadingText: '',
    logLevel: 'silent',
    multiplanarLayout: MULTIPLANAR_TYPE.GRID,
    multiplanarShowRender: SHOW_RENDER.ALWAYS,
    show3Dcrosshair: true,
    textHeight: 0.03,
  });
  viewer.onLocationChange = showLocation;
  await viewer.attachToCanvas(canvas);
  viewer.setSliceType(viewer.sliceTypeMultiplanar);
  opacity.addEventListener('input', () => {
    if (viewer.volumes.length > 1) viewer.setOpacity(1, opacity.valueAsNumber);
  });
  return viewer;
}

async function imageOf(nifti: Uint8Array<ArrayBuffer>, name: string): Promise<NVImage> {
  const { NVImage: Image } = await import('@niivue/niivue');
  return Image.loadFromUrl({ url: nifti.buffer, name: `${name}.nii` });
}

function clear(viewer: Niivue): void {
  for (const volume of [...viewer.volumes]) viewer.removeVolume(volume);
}

/** Instead of a picture, why there is none. */
function explain(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  empty.textContent =
    `No picture: the viewer needs WebGL 2, which this browser does not give (${reason}). ` +
    'Segmenting, volumes and downloads work without it.';
  empty.hidden = false;
}

export async function showScanPicture(nifti: Uint8Array<ArrayBuffer>, name: string): Promise<void> {
  labels = undefined;
  opacityBox.hidden = true;
  crosshair.textContent = '';
  try {
    started ??= start();
    const viewer = await started;
    clear(viewer);
    viewer.addVolume(await imageOf(nifti, name));
    viewer.createOnLocationChange();
    empty.hidden = true;
  } catch (error) {
    explain(error);
  }
}

export async function showLabelPicture(
  nifti: Uint8Array<ArrayBuffer>,
  values: Uint8Array,
  shape: Shape3,
  meaning: Label[],
): Promise<void> {
  labels = { values, shape, names: meaning.map(({ name }) => name) };
  try {
    const viewer = await (started ??= start());
    for (const old of viewer.volumes.slice(1)) viewer.removeVolume(old);
    const image = await imageOf(nifti, 'labels');
    const part = (channel: number) => meaning.map(({ colour }) => colour[channel]);
    image.setColormapLabel({
      R: part(0),
      G: part(1),
      B: part(2),
      A: meaning.map((_, label) => (label === 0 ? 0 : 255)),
      I: meaning.map((_, label) => label),
      labels: meaning.map(({ name }) => name),
    });
    image.opacity = opacity.valueAsNumber;
    viewer.addVolume(image);
    viewer.setInterpolation(true); // labels have nothing in between
    opacityBox.hidden = false;
    viewer.createOnLocationChange();
  } catch (error) {
    explain(error);
  }
}
