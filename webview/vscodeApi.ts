/** What VS Code gives to a webview's page: messages and a small state that survives while the panel exists. */
import type { ClientTransport } from './panelClient';

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** The page's own state; ids and layout only, never payloads. */
export interface PageState {
  read(): unknown;
  write(state: unknown): void;
}

/** Takes VS Code's interface, which can be had once for each page. */
export function connectToHost(): { readonly transport: ClientTransport; readonly state: PageState } {
  const api = acquireVsCodeApi();
  return {
    transport: {
      post: (message) => {
        api.postMessage(message);
      },
      onMessage: (listener) => {
        const receive = (event: MessageEvent): void => {
          listener(event.data);
        };
        window.addEventListener('message', receive);
        return () => {
          window.removeEventListener('message', receive);
        };
      },
    },
    state: {
      read: () => api.getState(),
      write: (state) => {
        api.setState(state);
      },
    },
  };
}
