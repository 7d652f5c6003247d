// SPDX-License-Identifier: Apache-2.0
// Files that a person can keep, as links; the memory behind them is given back when they are
// forgotten.
import { make } from './elements';

export class Downloads {
  private addresses: string[] = [];

  link(title: string, file: Blob, name: string): HTMLAnchorElement {
    const href = URL.createObjectURL(file);
    this.addresses.push(href);
    return make('a', { className: 'button', href, download: name }, title);
  }

  forget(): void {
    for (const address of this.addresses) URL.revokeObjectURL(address);
    this.addresses = [];
  }
}

/** Hands a file out at once, for one that is made only when it is asked for. */
export function handOut(file: Blob, name: string): void {
  const href = URL.createObjectURL(file);
  make('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser reads it in its own time
}
