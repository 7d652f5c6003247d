// SPDX-License-Identifier: Apache-2.0
// A reply as paragraphs and blocks of code, for showing it: as text, never as markup.

export interface Part {
  isCode: boolean;
  text: string;
}

export function partsOf(reply: string): Part[] {
  const parts: Part[] = [];
  const pieces = reply.split(/^```[^\n]*\n?/m);
  pieces.forEach((text, i) => {
    const isCode = i % 2 === 1;
    const trimmed = isCode ? text.replace(/\n$/, '') : text.trim();
    if (trimmed !== '') parts.push({ isCode, text: trimmed });
  });
  return parts;
}
