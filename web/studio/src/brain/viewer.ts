// SPDX-License-Identifier: Apache-2.0
// A scan and its labels in NiiVue: three planes and a rendering. Loaded when there is something to
// show.
import {
  MULTIPLANAR_TYPE,
  NVImage,
  type Niivue as Viewer,
  Niivue,
  SHOW_RENDER,
} from '@niivue/niivue';
import { colourOf } from './colours';

export interface Label {
  label: number;
  name: string;
}

interface Location {
  mm: ArrayLike<number>;
  values: { value: number }[];
}

function locationText(data: unknown, names: Map<number, string>): string {
  const { mm, values } = data as Location;
  const place = [0, 1, 2].map((axis) => mm[axis].toFixed(0)).join(', ');
  const brightness = values[0] ? ` · ${Number(values[0].value.toPrecision(4))}` : '';
  const label = values[1] ? names.get(Math.round(values[1].value)) : undefined;
  return `${place} mm${brightness}${label ? ` · ${label}` : ''}`;
}

export class BrainViewer {
  private viewer: Viewer | undefined;
  private names = new Map<number, string>();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly tell: (place: string) => void,
  ) {}

  /** One after the other: a newer scan waits until the older one stands. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.turn.then(work, work);
    this.turn = next;
    return next;
  }

  private async started(): Promise<Viewer> {
    if (this.viewer) return this.viewer;
    const viewer = new Niivue({
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
    viewer.onLocationChange = (data) => this.tell(locationText(data, this.names));
    await viewer.attachToCanvas(this.canvas);
    viewer.setSliceType(viewer.sliceTypeMultiplanar);
    this.viewer = viewer;
    return viewer;
  }

  showScan(bytes: ArrayBuffer, name: string): Promise<void> {
    return this.inTurn(async () => {
      const viewer = await this.started();
      for (const volume of [...viewer.volumes]) viewer.removeVolume(volume);
      this.names = new Map();
      viewer.addVolume(await NVImage.loadFromUrl({ url: bytes, name }));
      viewer.createOnLocationChange();
    });
  }

  showLabels(bytes: ArrayBuffer, labels: Label[], opacity: number): Promise<void> {
    return this.inTurn(async () => {
      const viewer = await this.started();
      for (const old of viewer.volumes.slice(1)) viewer.removeVolume(old);
      const image = await NVImage.loadFromUrl({ url: bytes, name: 'labels.nii.gz' });
      const all = [{ label: 0, name: '' }, ...labels];
      const part = (channel: number) =>
        all.map(({ label }) => (label === 0 ? 0 : colourOf(label)[channel]));
      image.setColormapLabel({
        R: part(0),
        G: part(1),
        B: part(2),
        A: all.map(({ label }) => (label === 0 ? 0 : 255)),
        I: all.map(({ label }) => label),
        labels: all.map(({ name }) => name),
      });
      image.opacity = opacity;
      this.names = new Map(labels.map(({ label, name }) => [label, name]));
      viewer.addVolume(image);
      viewer.setInterpolation(true); // labels have nothing in between
      viewer.createOnLocationChange();
    });
  }

  setOpacity(opacity: number): void {
    if (this.viewer && this.viewer.volumes.length > 1) this.viewer.setOpacity(1, opacity);
  }
}
