// SPDX-License-Identifier: Apache-2.0
// Puzzles: one is made up, typed or painted in; the network fills it step by step.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Item } from '../api/types';
import { isActive } from '../state/job-store';
import { startJob } from '../state/jobs';
import { chosenModel, models } from '../state/models';
import { useResult } from '../state/result';
import { param, setParams } from '../state/route';
import { Segments, Select, TextArea } from '../ui/fields';
import { ItemList } from '../ui/item-list';
import { JobLine } from '../ui/job-line';
import { ModelChoice, MoreModels, NoModel } from '../ui/model-choice';
import { Attempt, Fault, Notice } from '../ui/notice';
import { Sign } from '../ui/sign';
import { answersOf, refusedOf } from './answer';
import {
  type Kind,
  currentKind,
  kindOf,
  kindTitles,
  kinds,
  mazeAddress,
  mazeInAddress,
  newPuzzle,
  sizeOf,
  sudokuInAddress,
} from './kinds';
import { MazeGrid } from './maze-grid';
import { type Maze, mazeText, painted, parseMaze, whatIsMissing } from './maze';
import { Solution } from './solution';
import { SudokuGrid } from './sudoku-grid';
import { type SudokuSize, cellsText, conflictsOf, emptyCells, parseSudoku } from './sudoku';
import './puzzles.css';

const attempt = new Attempt();
const pen = signal('#');
const pens = [
  { value: '#', text: 'Wall' },
  { value: ' ', text: 'Open' },
  { value: 'S', text: 'Start' },
  { value: 'G', text: 'Goal' },
];

async function solve(text: string, title: string): Promise<void> {
  const model = chosenModel('trm');
  if (!model) return;
  await attempt.run(async () => {
    const job = await startJob({
      verb: 'run',
      family: 'trm',
      model: model.ref,
      inputs: [{ text, name: 'puzzle.txt' }],
      options: { trace: true },
      title,
    });
    setParams({ job: job.id, item: '' }, true);
  });
}

const changeSudoku = (cells: number[]) => setParams({ cells: cellsText(cells), job: '', item: '' });
const changeMaze = (maze: Maze) => setParams({ maze: mazeAddress(maze), job: '', item: '' });

function PasteField({ kind }: { kind: Kind }) {
  const [text, setText] = useState('');
  const [fault, setFault] = useState('');
  const take = () => {
    const maze = kind === 'maze' ? parseMaze(text) : undefined;
    const sudoku = maze ? undefined : parseSudoku(text);
    setFault(maze || sudoku ? '' : 'This is no puzzle of 4, 6 or 9 digits a side, and no maze.');
    if (maze) changeMaze(maze);
    if (sudoku)
      setParams({
        kind: `sudoku${sudoku.size}`,
        cells: cellsText(sudoku.cells),
        job: '',
        item: '',
      });
  };
  return (
    <details>
      <summary>Paste one as text</summary>
      <div class="stack tight">
        <TextArea
          label="Puzzle"
          rows={4}
          class="mono"
          value={text}
          change={setText}
          hint={
            kind === 'maze'
              ? 'Lines of # (wall), . (open), S and G.'
              : 'Digits; blanks are dots or zeros. Lines and boxes do not matter.'
          }
        />
        <div class="row">
          <button type="button" onClick={take}>
            Take it
          </button>
        </div>
        {fault && (
          <p class="bad-words" role="alert">
            {fault}
          </p>
        )}
      </div>
    </details>
  );
}

function SudokuPanel({ size }: { size: SudokuSize }) {
  const cells = sudokuInAddress(size) ?? emptyCells(size);
  return <SudokuGrid cells={cells} size={size} marks={{ given: cells }} change={changeSudoku} />;
}

function MazePanel() {
  const maze = mazeInAddress();
  if (!maze) return null;
  return (
    <div class="stack tight">
      <Segments
        label="Paint"
        isLabelUnseen
        value={pen.value}
        choices={pens}
        change={(value) => (pen.value = value)}
      />
      <MazeGrid
        maze={maze}
        paint={(at) => maze.cells[at] !== pen.value && changeMaze(painted(maze, at, pen.value))}
      />
    </div>
  );
}

/** The puzzle as text for the program, or why it cannot be solved yet. */
function current(kind: Kind): { text: string; fault: string } {
  const size = sizeOf(kind);
  if (!size) {
    const maze = mazeInAddress();
    return maze ? { text: mazeText(maze), fault: whatIsMissing(maze) } : { text: '', fault: '' };
  }
  const cells = sudokuInAddress(size) ?? emptyCells(size);
  const fault =
    conflictsOf(cells, size).size > 0 ? 'A digit stands twice in a row, column or box.' : '';
  return { text: `${cellsText(cells)}\n`, fault };
}

function PuzzlePanel({ kind, canStart }: { kind: Kind; canStart: boolean }) {
  const model = chosenModel('trm');
  const { text, fault } = current(kind);
  const trained = kindOf(model);
  const size = sizeOf(kind);
  return (
    <section class="panel stack" aria-labelledby="puzzle-title">
      <div class="panel-head">
        <h2 id="puzzle-title">Puzzle</h2>
        <Select
          label="Kind of puzzle"
          isLabelUnseen
          value={kind}
          choices={kinds.map((value) => ({ value, text: kindTitles[value] }))}
          change={(next) => newPuzzle(next, model)}
        />
      </div>
      {trained && trained !== kind && (
        <Notice kind="warn">
          The chosen model was trained for {kindTitles[trained].toLowerCase()}.
        </Notice>
      )}
      {size ? <SudokuPanel size={size} /> : <MazePanel />}
      {fault && (
        <p class="bad-words" role="alert">
          {fault}
        </p>
      )}
      <div class="row">
        <button
          type="button"
          class="main"
          disabled={!canStart || fault !== '' || attempt.busy.value}
          onClick={() => solve(text, kindTitles[kind])}
        >
          Solve
        </button>
        <button type="button" onClick={() => newPuzzle(kind, model)}>
          <Sign name="dice" />
          Another
        </button>
        {size && (
          <button type="button" class="plain" onClick={() => changeSudoku(emptyCells(size))}>
            <Sign name="close" />
            Empty
          </button>
        )}
      </div>
      <Fault text={attempt.fault} />
      <PasteField kind={kind} />
    </section>
  );
}

function Answers({ item }: { item: Item }) {
  const [input] = item.request.inputs ?? [];
  const text = typeof input === 'object' && 'text' in input ? input.text : '';
  const columns = parseMaze(text)?.columns ?? 1;
  return (
    <>
      {refusedOf(item).map((why) => (
        <Notice key={why} kind="bad">
          {why}
        </Notice>
      ))}
      {answersOf(item).map((answer) => (
        <Solution key={answer.name} answer={answer} columns={columns} />
      ))}
    </>
  );
}

export default function PuzzleRoom() {
  const { job, item, fault } = useResult(param('job'), param('item'));
  const model = chosenModel('trm');
  const kind = currentKind(model);
  const isEmpty = param('cells') === '' && param('maze') === '';
  useEffect(() => {
    if (isEmpty && models.value) newPuzzle(kind, model);
  }, [isEmpty, models.value]);
  const isBusy = job !== undefined && isActive(job);
  return (
    <>
      <div class="room-head">
        <div>
          <h1>Puzzles</h1>
          <p class="soft">A tiny network fills the grid, step by step.</p>
        </div>
        <ModelChoice family="trm" />
      </div>
      <div class="columns even">
        <div class="stack">
          {models.value && !model && <NoModel family="trm" />}
          <PuzzlePanel kind={kind} canStart={model !== undefined && !isBusy} />
          {model && <MoreModels family="trm" />}
        </div>
        <div class="stack">
          {fault && <Notice kind="bad">{fault}</Notice>}
          {job && !item && (
            <section class="panel">
              <JobLine job={job} />
            </section>
          )}
          {item ? (
            <Answers item={item} />
          ) : (
            !job && (
              <section class="panel">
                <p class="soft">
                  The answer appears here. Change the puzzle as you like, then press Solve.
                </p>
              </section>
            )
          )}
          <ItemList kind="puzzle" title="Earlier puzzles" />
        </div>
      </div>
    </>
  );
}
