import { list, number, record, string } from './lua';
import type { Twin } from './twin';

/** `removeGroup`. */
export const removeGroupTwin: Twin = ({ call, keys, argv }) => {
  const [key = ''] = keys;
  const [group = '', minIdle = '', ...mayHave] = argv;
  for (const consumer of list(call('XINFO', 'CONSUMERS', key, group)).map(record)) {
    const name = string(consumer.get('name'));
    const isKnown = mayHave.some((known) => known === name);
    if (!isKnown || number(consumer.get('idle')) < number(minIdle)) return ['in-use', name];
  }
  call('XGROUP', 'DESTROY', key, group);
  return ['removed'];
};
