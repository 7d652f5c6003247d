// SPDX-License-Identifier: Apache-2.0
// A graphics device can go at any time, and runtimes then wait for ever, give zeros, or complain of
// something else. Whoever awaits them does it through this.
/// <reference types="@webgpu/types" />

const NOTICE = 500; // ms
const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

export class DeviceWatch {
  private readonly lost: Promise<never>;

  private constructor(
    private readonly words: string,
    lost: Promise<unknown>,
    private readonly isLost: () => boolean = () => false, // where it is known before it is told
  ) {
    this.lost = lost.then(() => {
      throw new Error(words);
    });
    this.lost.catch(() => undefined); // nobody may be waiting just then
  }

  static ofDevice(device: GPUDevice): DeviceWatch {
    return new DeviceWatch('WebGPU device lost', device.lost);
  }

  static ofContext(gl: WebGLRenderingContext): DeviceWatch {
    const lost = new Promise((resolve) => gl.canvas.addEventListener('webglcontextlost', resolve));
    return new DeviceWatch('WebGL context lost', lost, () => gl.isContextLost());
  }

  /** What the device computes, unless it goes before that is done. */
  async unlessLost<T>(work: Promise<T>): Promise<T> {
    try {
      const value = await Promise.race([this.lost, work]);
      if (!this.isLost()) return value;
    } catch (error) {
      await Promise.race([this.lost, pause(NOTICE)]); // the true reason may come a little later
      if (!this.isLost()) throw error;
    }
    throw new Error(this.words);
  }
}
