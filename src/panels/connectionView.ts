/** How a connection stands, as a panel shows it. */
import { displayText } from '../base/byteText';
import type { Localizer } from '../base/localize';
import type { LiveConnection } from '../connections/liveConnection';
import type { ConnectionView } from '../protocol/streamPanel';

/** The view of a connection; of none when it was removed. */
export function connectionView(
  connection: Pick<LiveConnection, 'profile' | 'state' | 'isReadOnly'> | undefined,
  l10n: Localizer,
): ConnectionView {
  if (!connection) {
    return {
      name: l10n.t('removed connection'),
      environment: 'production',
      state: 'disconnected',
      isReadOnly: true,
      problem: l10n.t('The connection of this panel was removed.'),
    };
  }
  const { profile, state, isReadOnly } = connection;
  const name = displayText(profile.name);
  const problem = problemOf(state, name, l10n);
  return {
    name,
    environment: profile.environment,
    state: state.kind,
    isReadOnly,
    ...(problem === undefined ? {} : { problem }),
  };
}

function problemOf(state: LiveConnection['state'], name: string, l10n: Localizer): string | undefined {
  switch (state.kind) {
    case 'lost':
      return state.failure.message;
    case 'disconnected':
      return state.byUser ? l10n.t('{0} is disconnected.', name) : state.failure?.message;
    case 'connecting':
    case 'connected':
      return undefined;
  }
}
