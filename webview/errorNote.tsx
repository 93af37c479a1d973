/** An error shown where it happened: what failed, Retry when that may help, and the next step that the host offers. */
import type { JSX } from 'preact';
import type { ErrorData } from '../src/protocol/envelope';
import { Button } from './controls';
import { Icon } from './icons';
import { t } from './l10n';
import { SafeText } from './safeText';

/** Runs the next step that an error offers. */
export interface NextStepRunner {
  runNextStep(command: string): void;
}

/** Draws an error; `compact` within a row of the table. */
export function ErrorNote(props: {
  model: NextStepRunner;
  error: ErrorData;
  onRetry?: (() => void) | undefined;
  compact?: boolean;
}): JSX.Element {
  const { error, model, onRetry } = props;
  const { nextStep } = error;
  return (
    <div class={props.compact === true ? 'error-note compact' : 'error-note'} role="alert">
      <Icon name="error" class="error-icon" />
      <span class="error-text">
        <SafeText text={error.message} />
      </span>
      <span class="error-actions">
        {nextStep ? (
          <Button
            label={nextStep.title}
            appearance="primary"
            onClick={() => {
              model.runNextStep(nextStep.command);
            }}
          />
        ) : null}
        {onRetry && error.retriable ? <Button icon="refresh" label={t('Retry')} onClick={onRetry} /> : null}
      </span>
    </div>
  );
}
