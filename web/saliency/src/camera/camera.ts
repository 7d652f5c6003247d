// SPDX-License-Identifier: Apache-2.0
// The camera: asked for, read frame by frame, given back. Its pictures never leave the page.
import type { Pixels } from '../images/raster';

/** Why there is no camera, for people. */
export class CameraError extends Error {}

const WANTED: MediaTrackConstraints = { width: { ideal: 640 }, height: { ideal: 480 } };

function wordsFor(error: unknown): string {
  const name = error instanceof DOMException ? error.name : '';
  switch (name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return (
        'The camera may not be used: permission was denied. Allow it for this page in the ' +
        "browser's address bar or settings, then start it again."
      );
    case 'NotFoundError':
    case 'OverconstrainedError':
      return 'No camera was found. Connect one, then start it again; pictures work without.';
    case 'NotReadableError':
    case 'AbortError':
      return (
        'The camera does not give a picture: another program may be using it. Close that, then ' +
        'start it again.'
      );
    default:
      return `The camera could not be started (${error instanceof Error ? error.message : name}).`;
  }
}

async function openStream(deviceId: string): Promise<MediaStream> {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new CameraError(
      'Browsers give the camera only to pages from https:// or localhost. Open this page from ' +
        'such an address.',
    );
  }
  const video = deviceId ? { ...WANTED, deviceId: { exact: deviceId } } : WANTED;
  return navigator.mediaDevices.getUserMedia({ video, audio: false }).catch((error: unknown) => {
    throw new CameraError(wordsFor(error));
  });
}

export class Camera {
  private readonly canvas = document.createElement('canvas');

  private constructor(
    private readonly video: HTMLVideoElement,
    private readonly stream: MediaStream,
  ) {}

  /** `onLost` is called if the camera goes by itself. */
  static async start(deviceId: string, onLost: () => void): Promise<Camera> {
    const stream = await openStream(deviceId);
    const video = document.createElement('video');
    video.muted = true;
    video.playsInline = true;
    video.srcObject = stream;
    for (const track of stream.getVideoTracks()) track.addEventListener('ended', onLost);
    const camera = new Camera(video, stream);
    try {
      await video.play();
    } catch (error) {
      camera.stop();
      throw new CameraError(wordsFor(error));
    }
    return camera;
  }

  get name(): string {
    return this.stream.getVideoTracks()[0]?.label || 'camera';
  }

  /** It gives no more pictures. */
  get isOver(): boolean {
    return this.stream.getVideoTracks().every(({ readyState }) => readyState === 'ended');
  }

  /** Waits for a picture that was not seen before. */
  nextFrame(): Promise<Pixels> {
    return new Promise((resolve) => {
      const take = () => resolve(this.grab());
      if ('requestVideoFrameCallback' in this.video) this.video.requestVideoFrameCallback(take);
      else requestAnimationFrame(take);
    });
  }

  stop(): void {
    for (const track of this.stream.getTracks()) track.stop();
    this.video.srcObject = null;
  }

  private grab(): Pixels {
    const { videoWidth, videoHeight } = this.video;
    if (this.canvas.width !== videoWidth || this.canvas.height !== videoHeight) {
      Object.assign(this.canvas, { width: videoWidth, height: videoHeight });
    }
    const context = this.canvas.getContext('2d', { willReadFrequently: true });
    if (!context) throw new CameraError('This browser gives no canvas to read the camera with.');
    context.drawImage(this.video, 0, 0);
    return context.getImageData(0, 0, videoWidth, videoHeight);
  }
}

/** The cameras there are; their names are known once one of them was allowed. */
export async function listCameras(): Promise<MediaDeviceInfo[]> {
  const devices = await navigator.mediaDevices.enumerateDevices();
  return devices.filter(({ kind }) => kind === 'videoinput');
}
