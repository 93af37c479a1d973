import { formatDuration } from '../base/duration';
import { displayText } from '../base/byteText';
import type { LiveConnection } from '../connections/liveConnection';
import { shownUrl } from '../connections/settingProfiles';
import { environmentText } from './phrases';
import { TooltipText } from './tooltipText';
import type { TreeContext } from './treeContext';

/** Of a connection. */
export function connectionTooltip(
  { profile, state, isReadOnly }: LiveConnection,
  refreshSeconds: number,
  words: Pick<TreeContext, 'l10n' | 'locale'>,
): string {
  const { l10n } = words;
  const tooltip = new TooltipText(displayText(profile.name));
  if ('failure' in state) tooltip.sentence(displayText(state.failure.message));
  tooltip.figure(l10n.t('URL'), displayText(shownUrl(profile)), '', profile.source);
  tooltip.figure(l10n.t('Environment'), environmentText(profile.environment, words), '', profile.source);
  if (state.kind === 'connected') {
    const { kind, version, role } = state.server;
    tooltip.figure(l10n.t('Server'), displayText(`${kind} ${version}`), '', 'INFO');
    tooltip.figure(
      l10n.t('Role'),
      role,
      role === 'replica' ? l10n.t('its pending counts and idle times differ from the master') : '',
      'ROLE',
    );
  }
  if (isReadOnly) tooltip.sentence(l10n.t('Read-only: nothing that you do here changes this server.'));
  const refresh = formatDuration(1000 * refreshSeconds);
  return tooltip
    .sentence(
      refreshSeconds > 0
        ? l10n.t('Read again every {0} while the explorer is visible and the window has the focus.', refresh)
        : l10n.t('Automatic refresh is off for this connection.'),
    )
    .toString();
}
