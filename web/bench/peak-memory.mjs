// SPDX-License-Identifier: Apache-2.0
// Peak memory of a browser's page as the system sees it: what its processes hold of their own at
// once, at most, beyond what the empty page holds. The program's code, which all of them share, is
// left out; WebAssembly and graphics, which scripts cannot ask about, are in.
import { readFileSync } from 'node:fs';

const EVERY = 5; // ms

function heldBytes(pid) {
  let status;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return 0; // a process that is gone holds nothing
  }
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return 1024 * (field('RssAnon') + field('RssShmem'));
}

export class PeakMemory {
  #pids;
  #before;
  #most;
  #timer;

  constructor(pids) {
    this.#pids = pids;
    this.#before = this.#held();
    this.#most = this.#before;
    this.#timer = setInterval(() => this.#sample(), EVERY);
  }

  /** Of the processes that compute: the page's and the graphics device's. */
  static async of(browser) {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const computing = processInfo.filter(({ type }) => type === 'renderer' || type === 'GPU');
    return new PeakMemory(computing.map(({ id }) => id));
  }

  stop() {
    clearInterval(this.#timer);
  }

  /** Bytes. */
  get grown() {
    return this.#most - this.#before;
  }

  #held() {
    return this.#pids.reduce((sum, pid) => sum + heldBytes(pid), 0);
  }

  #sample() {
    this.#most = Math.max(this.#most, this.#held());
  }
}
