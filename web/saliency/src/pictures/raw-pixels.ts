// SPDX-License-Identifier: Apache-2.0
// The pixels of a picture with transparency as its file has them: a WebGL texture keeps what a
// canvas would multiply with the opacity.
import type { Pixels } from '../images/raster';

/** Nothing where WebGL is missing or has no texture of that size. */
export function rawPixels(bitmap: ImageBitmap): Pixels | undefined {
  const { width, height } = bitmap;
  const gl = document.createElement('canvas').getContext('webgl');
  if (!gl || Math.max(width, height) > gl.getParameter(gl.MAX_TEXTURE_SIZE)) return undefined;
  try {
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, bitmap);
    gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
    const target = [gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D] as const;
    gl.framebufferTexture2D(...target, gl.getParameter(gl.TEXTURE_BINDING_2D), 0);
    if (gl.checkFramebufferStatus(gl.FRAMEBUFFER) !== gl.FRAMEBUFFER_COMPLETE) return undefined;
    const bytes = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, bytes); // the first row first
    return { width, height, data: new Uint8ClampedArray(bytes.buffer) };
  } finally {
    gl.getExtension('WEBGL_lose_context')?.loseContext(); // browsers give only a few
  }
}
