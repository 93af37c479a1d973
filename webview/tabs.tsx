/** Tabs: one panel of several, chosen by pointer or with the arrow keys, as the ARIA practices describe. */
import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';

/** One tab. `badge` is a small figure behind its label. */
export interface TabItem<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly badge?: string | undefined;
}

/** Draws the tabs and the panel of the selected one, whose element has the id `<id>-tab-panel`. */
export function Tabs<Name extends string>(props: {
  id: string;
  label: string;
  items: readonly TabItem<Name>[];
  selected: Name;
  onSelect: (name: Name) => void;
  children: ComponentChildren;
}): JSX.Element {
  const { id, items, selected } = props;
  const list = useRef<HTMLDivElement>(null);
  const panelId = `${id}-tab-panel`;
  const tabId = (name: Name): string => `${id}-tab-${name}`;
  const selectAndFocus = (name: Name | undefined): void => {
    if (name === undefined) return;
    props.onSelect(name);
    document.getElementById(tabId(name))?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const index = items.findIndex(({ name }) => name === selected);
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: (index + 1) % items.length,
      ArrowLeft: (index + items.length - 1) % items.length,
      Home: 0,
      End: items.length - 1,
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    selectAndFocus(items[moves[event.key] ?? 0]?.name);
  };
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={props.label} ref={list} onKeyDown={onKeyDown}>
        {items.map(({ name, label, badge }) => (
          <button
            key={name}
            type="button"
            class="tab"
            role="tab"
            id={tabId(name)}
            aria-selected={name === selected}
            aria-controls={panelId}
            tabIndex={name === selected ? 0 : -1}
            onClick={() => {
              props.onSelect(name);
            }}
          >
            {label}
            {badge === undefined ? null : (
              <>
                {' '}
                <span class="tab-badge">{badge}</span>
              </>
            )}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={panelId} aria-labelledby={tabId(selected)} tabIndex={0}>
        {props.children}
      </div>
    </div>
  );
}
