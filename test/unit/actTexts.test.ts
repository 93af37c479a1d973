/** What confirmations and tallies say. */
import assert from 'node:assert/strict';
import { englishLocalizer } from '../../src/base/localize';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus';
import { confirmationOf, obstacleText } from '../../src/commands/actions/actTexts';
import type { PlanFacts } from '../../src/commands/actions/actTexts';
import { detailRows, tallyOf } from '../../src/commands/actions/resultTexts';
import type { Report } from '../../src/connections/gate';
import { connectionId } from '../../src/connections/profiles';
import { lastUndoable, restoreRequestOf } from '../../src/connections/lastAction';
import type { LoggedAction } from '../../src/connections/actionLog';

const words = { l10n: englishLocalizer, locale: 'en' };
const profile = {
  id: connectionId('saved/1'),
  name: 'prod-eu',
  url: 'redis://prod:6379',
  environment: 'production',
  source: 'saved',
} as const;

function facts(changes: Partial<PlanFacts> & { readonly count?: number } = {}): PlanFacts {
  const { count = 3, preview, ...rest } = changes;
  return {
    name: 'acknowledge',
    connection: { profile },
    target: { stream: streamKey('orders'), group: groupName('billing') },
    mode: 'guarded',
    choices: { guard: 'strict' },
    ...rest,
    preview: {
      items: Array.from({ length: count }, (_, index) => ({ id: entryId(`${index + 1}-0`) })),
      skipped: [],
      isCut: false,
      recent: { count: 0, latestMs: undefined },
      hasScripts: true,
      ...preview,
    },
  };
}

function report(...statuses: readonly string[]): Report {
  return {
    action: 'x',
    scriptsRefused: false,
    results: statuses.map((line, index) => {
      const [outcome = '', status = '', detail] = line.split(' ');
      const known = (['done', 'refused', 'failed', 'unknown', 'not-tried'] as const).find((each) => each === outcome);
      assert.ok(known);
      const id = entryId(`${index + 1}-0`);
      return { id, outcome: known, status, ...(detail === undefined ? {} : { detail }) };
    }),
  };
}

describe('The question before an action', () => {
  it('says what, where, what it means, what is risky now and what undo can do, in this order', () => {
    const asked = facts();
    const question = confirmationOf(
      [{ ...asked, preview: { ...asked.preview, recent: { count: 1, latestMs: 4200 } } }],
      words,
    );
    assert.deepEqual(question, {
      title: 'Acknowledge 3 pending entries of group billing?',
      detail: [
        'Connection: prod-eu (production)',
        'Stream: orders',
        'They will not be delivered to this group again. The stream keeps its entries.',
        '1 of them was delivered 4 s ago and is probably being processed.',
        'Guarded: an entry is left alone when it was delivered, claimed, heartbeaten or acknowledged since.',
        'Undo Last Action makes them pending again while the stream holds them.',
      ],
      verb: 'Acknowledge 3',
    });
  });

  it('says what is left out, without the guard when there is none, and the share of each group', () => {
    const other = facts({
      count: 2,
      target: { stream: streamKey('carts'), group: groupName('mail') },
      mode: 'unguarded',
    });
    const first = facts({ count: 1, mode: 'unguarded' });
    const skipped = [{ id: entryId('9-0'), why: 'not-pending' } as const];
    const question = confirmationOf([{ ...first, preview: { ...first.preview, skipped } }, other], words);
    assert.equal(question?.title, 'Acknowledge 3 pending entries of 2 groups?');
    assert.deepEqual(question.detail.slice(1, 5), [
      'Stream: orders',
      'Stream: carts',
      'orders › billing: 1',
      'carts › mail: 2',
    ]);
    assert.ok(question.detail.some((line) => line.startsWith('Not guarded: scripts are refused here')));
    assert.ok(question.detail.includes('Left out, not pending any more: 1'));
  });

  it('names the groups that would receive what is replayed', () => {
    const target = { stream: streamKey('orders') };
    const asked = facts({ name: 'replay', count: 1, target, choices: {} });
    const receivers = [groupName('billing'), groupName('shipping')];
    const question = confirmationOf([{ ...asked, preview: { ...asked.preview, receivers } }], words);
    assert.equal(question?.title, 'Replay 1 dead letter to stream orders?');
    assert.ok(question.detail.includes('2 groups would receive it: billing, shipping.'));
    assert.ok(question.detail.includes('This cannot be undone.'));
  });

  it('lets no name disguise itself', () => {
    const target = { stream: streamKey('a\u202eb'), group: groupName('') };
    const question = confirmationOf([facts({ count: 1, target, choices: { guard: 'relaxed', atLeast: 4 } })], words);
    assert.equal(question?.title, 'Acknowledge 1 pending entry of group ""?');
    assert.ok(question.detail.includes('Stream: a\\u202eb'));
    assert.ok(
      question.detail.some((line) =>
        line.startsWith('Relaxed guard: whatever is still pending and was delivered at least 4 times'),
      ),
    );
  });

  it('says why something cannot be done at all', () => {
    const text = obstacleText({ kind: 'cross-slot', source: streamKey('a}b'), target: streamKey('a}b:dlq') }, words);
    assert.match(text, /^a\}b and a\}b:dlq are in different slots of this cluster/);
  });
});

describe('The tally of an action', () => {
  it('is one sentence when all went as asked', () => {
    const tally = tallyOf(
      [{ plan: facts({ count: 2 }), report: report('done acknowledged', 'done acknowledged') }],
      words,
    );
    assert.deepEqual([tally.message, tally.isComplete], ['Acknowledged 2', true]);
  });

  it('counts what did not go as asked by its reason', () => {
    const results = report(
      'done acknowledged',
      'refused owner-changed worker-2',
      'refused not-pending',
      'refused not-pending',
    );
    const tally = tallyOf([{ plan: facts({ count: 4 }), report: results }], words);
    assert.equal(
      tally.message,
      'Acknowledged 1 of 4: 1 taken by worker-2 meanwhile; 2 not pending any more, acknowledged or moved by somebody else meanwhile.',
    );
    assert.match(
      detailRows([{ plan: facts({ count: 4 }), report: results }], words),
      /^2-0 {2}taken by worker-2 meanwhile$/m,
    );
  });

  it('says of a lost reply that it is unknown and not sent again', () => {
    const tally = tallyOf([{ plan: facts({ count: 1 }), report: report('unknown connection-lost') }], words);
    assert.match(tally.message, /^Acknowledged 0 of 1: 1 unknown, because the reply was lost; it is not sent again\./);
  });
});

describe('The last action', () => {
  const action = (changes: Partial<LoggedAction>): LoggedAction => ({
    start: {
      action: 'a',
      kind: 'sent',
      at: new Date(1000).toISOString(),
      verb: 'claim',
      connection: { id: 'saved/1', name: 'x', environment: 'local', url: 'redis://x' },
      stream: 'orders',
      group: 'billing',
      guarded: true,
      choices: {},
      undo: { kind: 'claim-back', ownerAfter: consumerName('ana'), countAfter: 'incremented' },
      total: 1,
    },
    items: [
      {
        id: entryId('1-0'),
        outcome: 'done',
        status: 'claimed',
        before: { owner: consumerName('dead'), deliveries: 2, idleMs: 50, deliveredAtMs: 1 },
      },
    ],
    isUndone: false,
    ...changes,
  });

  it('that can be taken back is the newest that was done and not taken back yet', () => {
    const refused = action({ items: [{ id: entryId('1-0'), outcome: 'refused', status: 'not-pending' }] });
    const { undo: _, ...permanent } = action({}).start;
    const found = action({});
    assert.equal(lastUndoable([refused, action({ isUndone: true }), action({ start: permanent }), found]), found);
    assert.equal(lastUndoable([refused]), undefined);
  });

  it('tells how each entry was and how the action left it', () => {
    assert.deepEqual(restoreRequestOf(action({}), 4000), {
      kind: 'claim-back',
      stream: 'orders',
      group: 'billing',
      deadLetters: undefined,
      ageMs: 3000,
      entries: [
        {
          id: '1-0',
          before: { owner: 'dead', deliveries: 2, idleMs: 50 },
          ownerAfter: 'ana',
          deliveriesAfter: 3,
          deadId: undefined,
        },
      ],
    });
  });
});
