// SPDX-License-Identifier: Apache-2.0
// Styles that were trained here, to sing in.
import { collections } from '../state/library';
import { Select, Slider } from '../ui/fields';
import { changeDraft, draft } from './draft';

export function AdapterField() {
  const adapters = collections.adapter.items.value.filter(
    ({ family, request }) => (family ?? request.family) === 'acestep',
  );
  if (adapters.length === 0) return null;
  const { adapter, adapterWeight } = draft.value;
  const choices = [
    { value: '', text: 'None' },
    ...adapters.map((item) => ({ value: `library:${item.id}`, text: item.title })),
  ];
  return (
    <div class="grid-2">
      <Select
        label="Style"
        value={adapter}
        choices={choices}
        change={(value) => changeDraft({ adapter: value })}
      />
      {adapter && (
        <Slider
          label="How strong"
          min={0}
          max={2}
          step={0.05}
          value={adapterWeight}
          change={(value) => changeDraft({ adapterWeight: value })}
        />
      )}
    </div>
  );
}
