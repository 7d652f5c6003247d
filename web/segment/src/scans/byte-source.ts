// SPDX-License-Identifier: Apache-2.0
// A file's bytes from front to back, inflated where it is gzipped, never whole in memory.
import { ScanError } from './scan-error';

export class ByteSource {
  private constructor(
    private readonly reader: ReadableStreamDefaultReader<Uint8Array>,
    private readonly name: string,
    private readonly gzipped: boolean,
    readonly mostBytes: number, // that can come out of it
  ) {}

  private piece: Uint8Array = new Uint8Array(0);
  private used = 0;

  static async open(file: Blob, name: string): Promise<ByteSource> {
    const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const gzipped = start[0] === 0x1f && start[1] === 0x8b;
    const plain = file.stream();
    const stream = gzipped ? plain.pipeThrough(new DecompressionStream('gzip')) : plain;
    // gzip makes nothing more than 1032 times smaller.
    const most = gzipped ? file.size * 1032 : file.size;
    return new ByteSource(stream.getReader(), name, gzipped, most);
  }

  /** Fills `out` from the front; fewer bytes only at the end of the file. */
  async read(out: Uint8Array): Promise<number> {
    let filled = 0;
    while (filled < out.length) {
      if (this.used === this.piece.length && !(await this.next())) break;
      const take = Math.min(out.length - filled, this.piece.length - this.used);
      out.set(this.piece.subarray(this.used, this.used + take), filled);
      this.used += take;
      filled += take;
    }
    return filled;
  }

  async skip(count: number): Promise<void> {
    let left = count;
    while (left > 0) {
      if (this.used === this.piece.length && !(await this.next())) return;
      const take = Math.min(left, this.piece.length - this.used);
      this.used += take;
      left -= take;
    }
  }

  /** The checksum of a gzip stream is behind its last byte: reads on until it was compared. */
  async checkEnd(): Promise<void> {
    while (this.gzipped && (await this.next())) continue;
    await this.close();
  }

  async close(): Promise<void> {
    await this.reader.cancel().catch(() => undefined);
  }

  private async next(): Promise<boolean> {
    try {
      const { done, value } = await this.reader.read();
      if (done) return false;
      this.piece = value;
      this.used = 0;
      return true;
    } catch (error) {
      throw this.explain(error);
    }
  }

  private explain(error: unknown): ScanError {
    const reason = error instanceof Error ? error.message : String(error);
    if (!this.gzipped) {
      return new ScanError(
        `${this.name} cannot be read any more (${reason}). Was it moved or changed? Choose it ` +
          'again.',
      );
    }
    if (/trunc|incomplete|unexpected end/i.test(reason)) {
      return new ScanError(
        `${this.name} is cut short: its gzip data ends too early. Copy it again.`,
      );
    }
    if (/junk|trailing/i.test(reason)) {
      return new ScanError(
        `${this.name} is gzipped in several parts, which this page cannot read. Unpack it to .nii.`,
      );
    }
    return new ScanError(`${this.name} is damaged: its gzip data makes no sense. Copy it again.`);
  }
}
