import { displayText } from '../base/byteText';
import type { Localizer } from '../base/localize';
import type { LiveConnection } from '../connections/liveConnection';
import type { LaunchGrant } from '../connections/verbs/launchWorker';
import { confirm } from '../ui/confirm';
import { promptText } from '../ui/pickers';

/**
 * Asks what has to be asked before a worker is launched: the name of a group that it joins, and, on every connection that is not
 * local, whether the handler may do there what it does. False when the person would rather not.
 */
export async function askBeforeLaunch(
  { profile }: LiveConnection,
  grant: LaunchGrant,
  { isIsolated, l10n }: { readonly isIsolated: boolean; readonly l10n: Localizer },
): Promise<boolean> {
  const { stream, group, mayReclaim, mayDeadLetter, mayJournal = false } = grant;
  const name = displayText(profile.name);
  const groupText = displayText(group);
  if (!isIsolated) {
    const typed = await promptText({
      title: l10n.t('Join group {0} of stream {1} on {2}', groupText, displayText(stream), name),
      prompt: l10n.t(
        'The worker takes messages of this group from its other workers. Type the name of the group to join it: {0}',
        groupText,
      ),
      submit: (text) => Promise.resolve(text === groupText ? undefined : l10n.t('This is not the name of the group.')),
    });
    if (typed !== groupText) return false;
  }
  if (profile.environment === 'local') return true;
  const may = [
    ...(mayReclaim ? [l10n.t('It takes over what other workers let lie.')] : []),
    ...(mayDeadLetter ? [l10n.t('It moves messages that fail three times to the dead letters.')] : []),
    ...(mayJournal ? [l10n.t('It records what becomes of them in the delivery journal of the stream.')] : []),
  ];
  const answer = await confirm({
    title: l10n.t('Debug a worker on {0}?', name),
    detail: [
      l10n.t('{0}: connection {1}, stream {2}, group {3}.', profile.environment, name, displayText(stream), groupText),
      isIsolated
        ? l10n.t('The group is made for this session and removed after it: no other group loses a message.')
        : l10n.t('The messages that it takes are acknowledged and not delivered to another worker.'),
      ...may,
      l10n.t("The handler's own side effects are real: whatever it writes, sends or charges, it does."),
    ],
    verb: l10n.t('Debug'),
  });
  return answer === 'confirmed';
}
