// SPDX-License-Identifier: Apache-2.0
// A table that may be wider than the screen: it scrolls by itself, also with the keyboard.
import type { ComponentChildren } from 'preact';

export function Wide({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}
