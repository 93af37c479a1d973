/** The icons of the panels, drawn here in the manner of VS Code's: 16 units, one colour, the text's. */
import type { JSX } from 'preact';

const paths = {
  refresh: 'M13.5 8a5.5 5.5 0 1 1-1.6-3.9M12.2 1.5v2.9H9.3',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  open: 'M9.5 2.5h4v4M13.5 2.5l-6 6M12.5 9.5v4h-10v-10h4',
  chevronRight: 'M6 3.5 10.5 8 6 12.5',
  chevronDown: 'M3.5 6 8 10.5 12.5 6',
  newest: 'M8 13.5v-8M4.5 9 8 5.5 11.5 9M3 2.5h10',
  oldest: 'M8 2.5v8M4.5 7 8 10.5 11.5 7M3 13.5h10',
  inbox: 'M2.5 9.5 4 3.5h8l1.5 6v3h-11zM2.5 9.5H6q0 2 2 2t2-2h3.5',
  organization: 'M8 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM4.5 13.5v-1q0-3 3.5-3t3.5 3v1z',
  person: 'M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5q0-4 5-4t5 4z',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5',
  warning: 'M8 2.5 14 13.5H2zM8 6.5v3.5M8 11.2v.8',
  error: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9M6.7 7v4M9.3 7v4',
  check: 'M3 8.5 6.5 12 13 4.5',
  circleSlash: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 12.2l8.4-8.4',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  globe: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2q-2.5 2.5-2.5 6T8 14M8 2q2.5 2.5 2.5 6T8 14',
  terminal: 'M2.5 3.5h11v9h-11zM5 6.5 7 8l-2 1.5M8.5 10h2.5',
  foldAll: 'M3 8h10M8 1.5v4M6 3.8l2 1.9 2-1.9M8 14.5v-4M6 12.2l2-1.9 2 1.9',
  unfoldAll: 'M3 8h10M8 5.7v-4M6 3.5l2-1.9 2 1.9M8 10.3v4M6 12.5l2 1.9 2-1.9',
} as const;

/** The name of an icon. */
export type IconName = keyof typeof paths;

/** Draws an icon; it is decoration, the words beside it say what it means. */
export function Icon({ name, class: className = '' }: { name: IconName; class?: string }): JSX.Element {
  return (
    <svg class={`icon ${className}`} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.2"
        stroke-linejoin="round"
        stroke-linecap="round"
      />
    </svg>
  );
}
