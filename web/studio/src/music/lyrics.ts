// SPDX-License-Identifier: Apache-2.0
// Lyrics with their structure tags, which stand on lines of their own.

export const structureTags = [
  'intro',
  'verse',
  'pre-chorus',
  'chorus',
  'bridge',
  'solo',
  'inst',
  'hook',
  'break',
  'outro',
] as const;

export interface Edited {
  text: string;
  caret: number;
}

/** Puts a tag on a line of its own where the caret is, with an empty line before it. */
export function insertTag(text: string, caret: number, tag: string): Edited {
  const lineEnd = text.indexOf('\n', caret);
  const isMidLine = caret > 0 && text[caret - 1] !== '\n';
  const at = isMidLine ? (lineEnd < 0 ? text.length : lineEnd) : caret;
  const before = text.slice(0, at).replace(/\n+$/, '');
  const after = text.slice(at).replace(/^\n+/, '');
  const start = before === '' ? '' : `${before}\n\n`;
  const head = `${start}[${tag}]\n`;
  return { text: head + after, caret: head.length };
}
