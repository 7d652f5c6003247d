// SPDX-License-Identifier: Apache-2.0
// What of a file a model is asked to go on from, and what of its answer is of use.

const before = 6000; // characters; more than small models look at
const after = 2000;

export interface Around {
  before: string;
  after: string;
}

/** Whole lines only, so that a model does not begin in the middle of a word. */
export function lastLines(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(-most);
  const newline = cut.indexOf('\n');
  return newline < 0 ? cut : cut.slice(newline + 1);
}

export function firstLines(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  const newline = cut.lastIndexOf('\n');
  return newline < 0 ? cut : cut.slice(0, newline + 1);
}

/** Filling in is asked for only where there is something behind the caret. Spaces right before the
 * caret belong to the next token: a model that gets them hardly ever goes on well, so it writes
 * them itself. Indentation stays. */
export function promptOf(text: Around): { prompt: string; suffix?: string; held: string } {
  const held = /\S( +)$/.exec(text.before)?.[1] ?? '';
  const start = text.before.slice(0, text.before.length - held.length);
  const prompt = lastLines(start, before);
  const suffix = firstLines(text.after, after);
  return suffix.trim() === '' ? { prompt, held } : { prompt, suffix, held };
}

/** Without the spaces that were held back, without what already stands behind the caret, and
 * without empty lines at the end. */
export function trimmedProposal(text: string, afterCaret: string, held = ''): string {
  const rest = afterCaret.split('\n', 1)[0].trimEnd();
  let trimmed = text;
  for (const space of held) if (trimmed.startsWith(space)) trimmed = trimmed.slice(1);
  trimmed = trimmed.trimEnd();
  return rest !== '' && trimmed.endsWith(rest) ? trimmed.slice(0, -rest.length).trimEnd() : trimmed;
}
