// SPDX-License-Identifier: Apache-2.0
// A place for files: chosen, dropped or pasted.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { Sign } from './sign';

export function DropZone(props: {
  label: string;
  hint: string;
  accept?: string;
  many?: boolean;
  take: (files: File[]) => void;
  takesPasted?: boolean;
  children?: ComponentChildren; // more ways to get one
}) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const take = (list: FileList | undefined | null) => {
    const files = [...(list ?? [])];
    if (files.length > 0) props.take(props.many ? files : files.slice(0, 1));
  };
  useEffect(() => {
    if (!props.takesPasted) return undefined;
    const pasted = (event: ClipboardEvent) => take(event.clipboardData?.files);
    addEventListener('paste', pasted);
    return () => removeEventListener('paste', pasted);
  });
  return (
    <div
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <div class="row">
        <span>
          <label class="button" for={id}>
            <Sign name="upload" />
            {props.label}
          </label>
          <input
            id={id}
            class="unseen"
            type="file"
            accept={props.accept}
            multiple={props.many}
            aria-describedby={`${id}-hint`}
            onChange={({ currentTarget }) => {
              take(currentTarget.files);
              currentTarget.value = '';
            }}
          />
        </span>
        {props.children}
      </div>
      <p class="hint" id={`${id}-hint`}>
        {props.hint}
      </p>
    </div>
  );
}

/** Files that miss the zone must not replace the page. */
export function keepDroppedFilesOut(): void {
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => event.preventDefault());
}
