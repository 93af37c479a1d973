/**
 * The stream panel's page: connects to the host, shows the panel, and asks everything anew when it becomes visible again.
 *
 * It knows only what the host answers (`src/protocol/streamPanel`). Its tests are in `test/webview`, against the built bundle.
 */
import { render } from 'preact';
import type { StreamPanelContract } from '../../src/protocol/streamPanel';
import { PanelClient } from '../panelClient';
import { registerToolkit } from '../toolkit';
import { connectToHost } from '../vscodeApi';
import { App } from './app';
import { Layout } from './layout';
import './stream.css';
import { StreamModel } from './streamModel';

/** How many events the host may send ahead of their handling. */
const credits = 32;

const { transport, state } = connectToHost();
const layout = new Layout(state);
const client = new PanelClient<StreamPanelContract>(transport, { credits, firstGeneration: Date.now() });
const model = new StreamModel(client, layout);
registerToolkit();
layout.keep();
const root = document.getElementById('root');
if (root) render(<App model={model} />, root);
client.start();
void model.start();
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void model.becomeVisible();
});
