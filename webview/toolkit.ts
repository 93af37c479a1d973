/**
 * The only place that knows the webview UI toolkit: registers its controls and gives them types. The toolkit's upstream is archived;
 * a swap changes this file alone. `controls.tsx` wraps the elements for the panels.
 */
import { provideVSCodeDesignSystem, vsCodeButton, vsCodeTextField } from '@vscode/webview-ui-toolkit';
import type { HTMLAttributes as ElementAttributes } from 'preact';

declare module 'preact' {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- how Preact's types learn of custom elements
  namespace JSX {
    interface IntrinsicElements {
      'vscode-button': ElementAttributes<HTMLElement> & { appearance?: string };
      'vscode-text-field': ElementAttributes<HTMLElement> & { value?: string; placeholder?: string };
    }
  }
}

/** Defines the custom elements; call it once, before the first drawing. */
export function registerToolkit(): void {
  provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeTextField());
}
