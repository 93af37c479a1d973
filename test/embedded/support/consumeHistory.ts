// Random histories of processes that consume a stream: publishing, failing, hanging, crashes, partitions, trims and closing.
import fc from 'fast-check';
import type { Loss } from '../../../src/embedded';
import { ConsumeWorld } from './consumeWorld';
import type { Plan } from './consumeWorld';

/** One thing that happens. */
export type Action =
  | { readonly do: 'publish'; readonly plan: Plan }
  | { readonly do: 'start' | 'crash' | 'close'; readonly name: string }
  | { readonly do: 'partition'; readonly name: string; readonly loss: Loss }
  | { readonly do: 'heal' }
  | { readonly do: 'trim' | 'trimSafely'; readonly maxLength: number }
  | { readonly do: 'advance'; readonly ms: number };

const name = fc.constantFrom('p1', 'p2', 'p3');
const plan = fc.constantFrom<Plan>(
  'succeed',
  'succeed',
  'fail once',
  'fail always',
  'reject',
  'hang once',
  'hang always',
  'slow',
);
const publish = fc.record({ do: fc.constant('publish' as const), plan });
const advance = fc.record({
  do: fc.constant('advance' as const),
  ms: fc.constantFrom(1, 100, 700, 1500, 4000, 20_000),
});
const lifecycle = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('start' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'close' as const), name }) },
);
const trims = fc.record({ do: fc.constantFrom('trim' as const, 'trimSafely' as const), maxLength: fc.nat(4) });
const partitions = fc.oneof(
  fc.record({ do: fc.constant('partition' as const), name, loss: fc.constantFrom<Loss>('requests', 'replies') }),
  fc.record({ do: fc.constant('heal' as const) }),
);

const calmAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: publish },
  { weight: 6, arbitrary: advance },
  { weight: 4, arbitrary: lifecycle },
  { weight: 1, arbitrary: trims },
);
const stormyAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: calmAction },
  { weight: 1, arbitrary: partitions },
);

/** Histories with crashes and closing. */
export const calmHistory = fc.array(calmAction, { minLength: 3, maxLength: 40, size: 'max' });
/** Histories in which processes are cut off as well. */
export const stormyHistory = fc.array(stormyAction, { minLength: 3, maxLength: 40, size: 'max' });

/** Lets a history happen and everything come to rest; rejects when an invariant of the bus does not hold. */
export async function runHistory(actions: readonly Action[]): Promise<void> {
  const world = new ConsumeWorld();
  await world.start('p1');
  for (const action of actions) {
    switch (action.do) {
      case 'publish':
        await world.publish(action.plan);
        break;
      case 'start':
      case 'crash':
      case 'close':
        await world[action.do](action.name);
        break;
      case 'partition':
        await world.partition(action.name, action.loss);
        break;
      case 'heal':
        await world.heal();
        break;
      case 'trim':
        world.trim(action.maxLength);
        break;
      case 'trimSafely':
        await world.trimSafely(action.maxLength);
        break;
      case 'advance':
        await world.advance(action.ms);
        break;
    }
  }
  await world.finish();
}
