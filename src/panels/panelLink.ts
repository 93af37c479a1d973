import { displayText } from '../base/byteText';
import type { Localizer } from '../base/localize';
import type { LiveConnection } from '../connections/liveConnection';
import { PanelError } from './panelError';

/**
 * Whether a panel may read over a connection. One that VS Code brought back does not connect where only the workspace says what to
 * connect to, however often its page is hidden, shown and asks anew: that takes somebody who asks for it.
 */
export class PanelLink {
  private mayConnect: boolean;

  constructor(
    isRestored: boolean,
    private readonly l10n: Localizer,
  ) {
    this.mayConnect = !isRestored;
  }

  /** Throws a PanelError while reading would be the first to connect and nobody asked for that. */
  check({ profile, state }: Pick<LiveConnection, 'profile' | 'state'>): void {
    if (profile.source !== 'workspace' || state.kind === 'connected') this.mayConnect = true;
    if (this.mayConnect) return;
    const message = this.l10n.t(
      '{0} is not connected: only this workspace names it, so it is connected when you ask. Retry connects.',
      displayText(profile.name),
    );
    throw new PanelError({ reason: 'disconnected', message, retriable: true });
  }

  /** Connects because somebody asked for it: after a failure or a disconnect reads alone never try again. */
  async connect(connection: LiveConnection, signal: AbortSignal): Promise<void> {
    this.mayConnect = true;
    await connection.connect(signal);
  }
}
