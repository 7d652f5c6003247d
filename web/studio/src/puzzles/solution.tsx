// SPDX-License-Identifier: Apache-2.0
// The answer step by step: it plays by itself, and can be gone through by hand.
import { useEffect, useState } from 'preact/hooks';
import { Slider } from '../ui/fields';
import { Notice } from '../ui/notice';
import { Sign } from '../ui/sign';
import { type Answer, framesOf, verdict } from './answer';
import { ColourGrid, MazeGrid } from './maze-grid';
import { SudokuGrid } from './sudoku-grid';
import { type SudokuSize, conflictsOf, parseSudoku } from './sudoku';

const pace = 450; // ms a step

function usePlayback(frames: number) {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const [at, setAt] = useState(isStill ? frames - 1 : 0);
  const [isOn, setOn] = useState(!isStill);
  useEffect(() => {
    if (!isOn) return undefined;
    if (at >= frames - 1) {
      setOn(false);
      return undefined;
    }
    // Somebody may have gone elsewhere while the timer was about to fire.
    const timer = setTimeout(() => setAt((now) => (now === at ? at + 1 : now)), pace);
    return () => clearTimeout(timer);
  }, [isOn, at, frames]);
  const play = () => {
    if (at >= frames - 1) setAt(0);
    setOn(true);
  };
  const go = (to: number) => {
    setOn(false);
    setAt(to);
  };
  return { at: Math.min(at, frames - 1), isOn, play, pause: () => setOn(false), go };
}

function changedCells(before: readonly number[], now: readonly number[]): Set<number> {
  return new Set(now.flatMap((digit, i) => (digit !== before[i] ? [i] : [])));
}

function SudokuFrame({ frames, at, size }: { frames: string[]; at: number; size: SudokuSize }) {
  const cells = frames.map((text) =>
    [...text].map((digit) => (/[1-9]/.test(digit) ? Number(digit) : 0)),
  );
  const now = cells[at];
  const isLast = at === frames.length - 1;
  const marks = {
    given: cells[0],
    changed: at > 0 ? changedCells(cells[at - 1], now) : undefined,
    wrong: isLast ? conflictsOf(now, size) : new Set<number>(),
  };
  return <SudokuGrid cells={now} size={size} marks={marks} />;
}

function Frame({
  answer,
  frames,
  at,
  columns,
}: {
  answer: Answer;
  frames: (string | number[])[];
  at: number;
  columns: number;
}) {
  const now = frames[at];
  if (typeof now !== 'string') return <ColourGrid tokens={now} />;
  const sudoku = typeof answer.input === 'string' ? parseSudoku(answer.input) : undefined;
  if (sudoku && !now.includes('#')) {
    return (
      <SudokuFrame
        frames={frames.filter((one) => typeof one === 'string')}
        at={at}
        size={sudoku.size}
      />
    );
  }
  return <MazeGrid maze={{ rows: now.length / columns, columns, cells: now }} />;
}

interface Shown {
  answer: Answer;
  columns: number;
}

/** Another answer begins anew. */
export const Solution = (shown: Shown) => (
  <Playback key={shown.answer.name + String(shown.answer.solution)} {...shown} />
);

function Playback({ answer, columns }: Shown) {
  const frames = framesOf(answer);
  const { at, isOn, play, pause, go } = usePlayback(frames.length);
  const { text, isGood } = verdict(answer);
  const isLast = at === frames.length - 1;
  return (
    <section class="panel stack" aria-labelledby="answer-title" data-valid={String(answer.valid)}>
      <h2 id="answer-title">Answer</h2>
      <Frame answer={answer} frames={frames} at={at} columns={columns} />
      {frames.length > 1 && (
        <div class="playback">
          <button
            type="button"
            class="icon"
            aria-label={isOn ? 'Pause' : 'Play the steps'}
            onClick={isOn ? pause : play}
          >
            <Sign name={isOn ? 'pause' : 'play'} full={!isOn} />
          </button>
          <Slider
            label="Step"
            min={0}
            max={frames.length - 1}
            step={1}
            value={at}
            change={go}
            text={(step) => (step === 0 ? 'given' : `${step} of ${frames.length - 1}`)}
          />
        </div>
      )}
      {isLast && <Notice kind={isGood ? 'plain' : 'warn'}>{text}</Notice>}
    </section>
  );
}
