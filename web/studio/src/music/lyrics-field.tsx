// SPDX-License-Identifier: Apache-2.0
// Words to sing, with buttons for the structure tags.
import { useRef } from 'preact/hooks';
import { CheckBox, TextArea } from '../ui/fields';
import { changeDraft, draft } from './draft';
import { insertTag, structureTags } from './lyrics';

export function LyricsField() {
  const area = useRef<HTMLTextAreaElement | null>(null);
  const { lyrics, instrumental } = draft.value;
  const insert = (tag: string) => {
    const caret = area.current?.selectionStart ?? lyrics.length;
    const edited = insertTag(lyrics, caret, tag);
    changeDraft({ lyrics: edited.text });
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(edited.caret, edited.caret);
    });
  };
  return (
    <div class="stack tight">
      <CheckBox
        label="Instrumental, nobody sings"
        value={instrumental}
        change={(value) => changeDraft({ instrumental: value })}
      />
      {!instrumental && (
        <>
          <TextArea
            label="Words to sing"
            class="lyrics"
            rows={6}
            value={lyrics}
            placeholder={
              '[verse]\nThe lamps go out along the quay\n\n[chorus]\nStay a little longer'
            }
            hint="Parts of the song begin with a tag on a line of its own:"
            hold={(element) => (area.current = element)}
            change={(text) => changeDraft({ lyrics: text })}
          />
          <div class="row tags" role="group" aria-label="Insert a part">
            {structureTags.map((tag) => (
              <button key={tag} type="button" class="chip" onClick={() => insert(tag)}>
                [{tag}]
              </button>
            ))}
          </div>
        </>
      )}
    </div>
  );
}
