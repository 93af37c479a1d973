/** The panels' buttons and fields: the toolkit's elements (`toolkit.ts`) with icons and names. */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icons';
import type { IconName } from './icons';
import './toolkit';

/** A button with an icon before its words; with `iconOnly` the words are its name and tooltip. */
export function Button(props: {
  icon?: IconName;
  label: string;
  title?: string;
  appearance?: 'primary' | 'secondary';
  iconOnly?: boolean;
  class?: string;
  onClick: () => void;
}): JSX.Element {
  const { icon, label, iconOnly = false } = props;
  return (
    <vscode-button
      class={props.class ?? ''}
      appearance={iconOnly ? 'icon' : (props.appearance ?? 'secondary')}
      aria-label={label}
      title={props.title ?? (iconOnly ? label : '')}
      onClick={props.onClick}
    >
      {content(icon, iconOnly ? null : label)}
    </vscode-button>
  );
}

/** A one-line text field that tells what is typed and when Enter is pressed. */
export function TextField(props: {
  value: string;
  label: string;
  placeholder: string;
  invalid: boolean;
  onInput: (value: string) => void;
  onEnter: () => void;
}): JSX.Element {
  const field = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // The toolkit's field names itself "Text field" when it enters the page, whatever name it was given before.
    field.current?.setAttribute('aria-label', props.label);
  }, [props.label]);
  return (
    <vscode-text-field
      ref={field}
      value={props.value}
      placeholder={props.placeholder}
      aria-invalid={props.invalid ? 'true' : 'false'}
      onInput={(event) => {
        props.onInput(valueOf(event.currentTarget));
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') props.onEnter();
      }}
    />
  );
}

function content(icon: IconName | undefined, label: string | null): ComponentChildren {
  if (label === null) return icon ? <Icon name={icon} /> : null;
  return (
    <>
      {icon ? (
        <span slot="start">
          <Icon name={icon} />
        </span>
      ) : null}
      {label}
    </>
  );
}

function valueOf(element: HTMLElement): string {
  return 'value' in element && typeof element.value === 'string' ? element.value : '';
}
