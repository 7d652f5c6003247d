// SPDX-License-Identifier: Apache-2.0
// The camera's button and settings, and how fast maps come.
import { byId, make } from '../../../shared/page/elements';
import { listCameras } from '../camera/camera';
import { type Size, sizeText } from '../model';
import { percent } from './look-panel';

const button = byId('camera', HTMLButtonElement);
const box = byId('camera-box', HTMLDivElement);
const device = byId('device', HTMLSelectElement);
const deviceLabel = byId('device-label', HTMLLabelElement);
const smoothing = byId('smoothing', HTMLInputElement);
const smoothingText = byId('smoothing-text', HTMLOutputElement);
const rate = byId('rate', HTMLOutputElement);

export function onCamera(toggle: () => void, change: () => void): void {
  button.addEventListener('click', toggle);
  device.addEventListener('change', change);
  const show = () => (smoothingText.value = percent(smoothing.valueAsNumber));
  smoothing.addEventListener('input', show);
  show();
}

export function chosenCamera(): string {
  return device.value;
}

export function chosenSmoothing(): number {
  return smoothing.valueAsNumber;
}

export function showCamera(running: boolean): void {
  button.textContent = running ? 'Stop the camera' : 'Start the camera';
  button.setAttribute('aria-pressed', String(running));
  box.hidden = !running;
}

/** A choice where there are several. */
export async function offerCameras(): Promise<void> {
  const cameras = await listCameras();
  const before = device.value;
  device.replaceChildren(
    ...cameras.map(({ deviceId, label }, i) =>
      make('option', { value: deviceId }, label || `Camera ${i + 1}`),
    ),
  );
  if (cameras.some(({ deviceId }) => deviceId === before)) device.value = before;
  device.hidden = deviceLabel.hidden = cameras.length < 2;
}

export function showRate(fps: number | undefined, size: Size): void {
  const words = fps === undefined ? '…' : fps.toFixed(fps < 10 ? 1 : 0);
  rate.replaceChildren(make('strong', {}, words), ` maps per second · ${sizeText(size)}`);
}

export function showTime(words: string): void {
  rate.textContent = words;
}
