// SPDX-License-Identifier: Apache-2.0
// Whether something is under way: the line below the viewer. Several things may be.
import { byId } from '../../../shared/page/elements';

const bar = byId('progress', HTMLProgressElement);
let under = 0;

export async function working<T>(task: Promise<T>): Promise<T> {
  under += 1;
  bar.hidden = false;
  try {
    return await task;
  } finally {
    under -= 1;
    bar.hidden = under === 0;
  }
}
