/** Above the table: jump to an id or a time, to the newest and to the oldest entry. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { Button, TextField } from '../controls';
import { t } from '../l10n';
import type { StreamModel } from './streamModel';

/** Draws the bar. */
export function JumpBar({ model }: { model: StreamModel }): JSX.Element {
  const text = useSignal('');
  const isInvalid = useSignal(false);
  const jump = async (): Promise<void> => {
    if (text.value.trim() === '') return;
    isInvalid.value = !(await model.jump(text.value));
  };
  return (
    <div class="jump-bar">
      <TextField
        value={text.value}
        label={t('Jump to id or time')}
        placeholder={t('Jump to id or time, e.g. 15 min ago')}
        invalid={isInvalid.value}
        onInput={(value) => {
          text.value = value;
          isInvalid.value = false;
        }}
        onEnter={() => void jump()}
      />
      <Button icon="newest" iconOnly label={t('Newest entry')} onClick={() => void model.goToEnd('newest')} />
      <Button icon="oldest" iconOnly label={t('Oldest entry')} onClick={() => void model.goToEnd('oldest')} />
      <div
        class={isInvalid.value ? 'jump-help invalid' : 'visually-hidden'}
        role={isInvalid.value ? 'alert' : undefined}
      >
        {t('An id (1700000000000-0), a time (2026-11-29 16:07, 16:07), 15 min ago, newest or oldest.')}
      </div>
    </div>
  );
}
