// SPDX-License-Identifier: Apache-2.0
// The one place where errors appear, as text that says what to do.
import { byId } from './elements';

const box = byId('message', HTMLDivElement);
const text = byId('message-text', HTMLParagraphElement);
const status = byId('status', HTMLParagraphElement);

export function showError(error: unknown): void {
  text.textContent = error instanceof Error ? error.message : String(error);
  box.hidden = false;
  box.scrollIntoView({ block: 'nearest' });
}

export function clearError(): void {
  box.hidden = true;
  text.textContent = '';
}

/** For those who listen: told by screen readers, not shown. */
export function say(words: string): void {
  status.textContent = words;
}

byId('message-close', HTMLButtonElement).addEventListener('click', clearError);
