import { iso, now, number } from './lua';
import type { Twin } from './twin';

/** `recordJournal`. */
export const recordJournalTwin: Twin = (world) => {
  const { call, keys, argv } = world;
  const [key = ''] = keys;
  const [maxLength = '', group = '', consumer = '', host = '', pid = '', version = '', lines = ''] = argv;
  const started = now(world);
  let count = 0;
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const [event = '', ids = '', attempts = '', durations = '', time = '', failed = ''] = line.split(' ');
    const ms = number(time.slice(1));
    const at = iso(time.startsWith('-') ? started - ms : ms);
    const error = failed === '-' ? [] : errorFields(argv, 7 + 3 * number(failed));
    const about = ['event', event, 'id', ids, 'group', group, 'consumer', consumer];
    const tried = ['attempt', attempts === '-' ? '' : attempts, 'at', at];
    const took = ['durationMs', durations === '-' ? '' : durations];
    const writer = ['host', host, 'pid', pid, 'version', version];
    call('XADD', key, 'MAXLEN', '~', maxLength, '*', ...about, ...tried, ...took, ...error, ...writer);
    count += 1;
  }
  return count;
};

function errorFields(argv: readonly string[], at: number): string[] {
  const [type = '', message = '', stack = ''] = argv.slice(at, at + 3);
  return ['error.type', type, 'error.message', message, 'error.stack', stack];
}
