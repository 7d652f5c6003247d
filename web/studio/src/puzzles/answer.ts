// SPDX-License-Identifier: Apache-2.0
// What `ubique run trm --json --trace` says about a puzzle.
import type { Item } from '../api/types';

export interface Step {
  step: number;
  cells: string | number[];
  q: number;
}

export interface Answer {
  name: string;
  input: string | number[];
  solution: string | number[];
  valid: boolean | null;
  several_solutions?: boolean;
  steps: number;
  confident: boolean;
  trace?: Step[];
}

interface Outcome {
  puzzles?: Answer[];
  refused?: string[];
}

export const answersOf = (item: Item): Answer[] => (item.outcome as Outcome | null)?.puzzles ?? [];
export const refusedOf = (item: Item): string[] => (item.outcome as Outcome | null)?.refused ?? [];

/** The grid as given, then after every step. */
export function framesOf(answer: Answer): (string | number[])[] {
  const steps = answer.trace?.map(({ cells }) => cells) ?? [answer.solution];
  return [answer.input, ...steps];
}

/** The judgement in words, and whether it is a good one. */
export function verdict(answer: Answer): { text: string; isGood: boolean } {
  const steps = `${answer.steps} ${answer.steps === 1 ? 'step' : 'steps'}`;
  const doubt = answer.confident ? '' : ' The network itself was not sure.';
  if (answer.valid === true) {
    const more = answer.several_solutions ? ' Other solutions exist too.' : '';
    return { text: `Solved in ${steps}.${more}`, isGood: true };
  }
  if (answer.valid === false) {
    return {
      text: `Not solved after ${steps}: the rules are broken in the marked cells.${doubt}`,
      isGood: false,
    };
  }
  return { text: `Answered after ${steps}.${doubt}`, isGood: answer.confident };
}
