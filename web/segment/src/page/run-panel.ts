// SPDX-License-Identifier: Apache-2.0
// Step 3: the buttons, and how far it is. Counts seconds by itself while something runs.
import type { Progress } from '../engines/engine';
import { byId } from '../../../shared/page/elements';
import { secondsText } from '../../../shared/page/words';

const start = byId('start', HTMLButtonElement);
const cancel = byId('cancel', HTMLButtonElement);
const box = byId('progress-box', HTMLDivElement);
const bar = byId('progress', HTMLProgressElement);
const text = byId('progress-text', HTMLParagraphElement);
const tick = 100; // ms

let words = '';
let began = 0;
let timer: ReturnType<typeof setInterval> | undefined;

export function onStart(run: () => void): void {
  start.addEventListener('click', run);
}

export function onCancel(stop: () => void): void {
  cancel.addEventListener('click', stop);
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !cancel.hidden) stop();
  });
}

export function allowStart(allowed: boolean): void {
  start.disabled = !allowed;
}

function show(): void {
  text.textContent = `${words} · ${secondsText((performance.now() - began) / 1000)}`;
}

/** Something that can be cancelled begins; how long it takes is not known yet. */
export function showBusy(what: string): void {
  if (timer === undefined) {
    began = performance.now();
    timer = setInterval(show, tick);
  }
  words = what;
  bar.removeAttribute('value');
  start.disabled = true;
  cancel.hidden = false;
  box.hidden = false;
  show();
}

export function showProgress({ done, total, what }: Progress): void {
  bar.max = total;
  bar.value = done;
  words =
    what === 'estimate'
      ? `about ${Math.round((100 * done) / total)} %, by the expected time`
      : `${what} ${Math.min(Math.floor(done), total)} of ${total}`;
  show();
}

export function showIdle(): void {
  clearInterval(timer);
  timer = undefined;
  const hadFocus = document.activeElement === cancel;
  cancel.hidden = true;
  box.hidden = true;
  if (hadFocus) start.focus();
}
