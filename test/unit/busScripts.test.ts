/** The registry of scripts: no text changes unnoticed, and each obeys the rules. What they do is tested in test/bus/scripts.test.ts. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { allScripts } from '../../src/bus/scripts';

/** A changed text needs its twin in the embedded engine looked at before its hash is changed here. */
const hashes: Record<(typeof allScripts)[number]['name'], string> = {
  acknowledgeDelete: '1dec12bce942a2c2cdaa698c810bc38ad555bc8c',
  claimDue: '15515488151cd4a6831a97cd7006aa62235eed37',
  deadLetter: 'c3ca19950daead4eea115cddbcb70d38b9544624',
  deleteEntries: 'd8f20b61008a3055b017f68e9f631b9228c9001b',
  guardedAcknowledge: '2a47940d3e19d682b7ed4206d1f87128277e738f',
  guardedClaim: '5c04a9e70ea90d6acbe4e583ca20131f502acaa8',
  handOver: '9401f1b183e6e6392dddcff1d3cef72756a751c0',
  heartbeat: 'fa98e846ee302870d4c7ec583658d7b1336c2c1a',
  idempotencyAbandon: '093bb023cbdf9b0312ad8248c2140132de743537',
  idempotencyBegin: '5e2e3dd03f07482633250db26eacb6909724ac5b',
  idempotencyComplete: '3221990b280f15b85d7410e2952496990614a868',
  publishDeduplicated: '0484181bc874e0c8b130f79ec6fadb4f8fca7841',
  reapConsumer: 'f4091d4b493696b6b05a45a6db4cfcbcefa7ae86',
  reclaim: '85717311a5154696aa51cdf887d1fea2c9c5ce1a',
  recordJournal: 'cbeb21ebb9a6571a9bde051077936df3daab2691',
  recoverOwn: '4faf496e8caa7ada3ebd2ee6454b7249754f4a0e',
  release: '916a0e6f51bb2fe2e8146f6f77443f3ab762d4ac',
  removeGroup: '2ec7b6c3324ac45a15ab5cea9975ea7de473b693',
  replay: '12ad73321663b406b6afb1f9859acbf0d7e3e8b7',
  replayToGroup: '04f590db3af9ab957970d9df20235f40bf34bb3b',
  retryLater: '60fd774bcb78aff379df147ea1deb5bdd7793e8c',
  safeTrim: '864aa6d725fcfc1deda19ce89100511cd968b8c7',
};

describe('the scripts of the bus', () => {
  it('have names of their own, and texts that nobody changed unnoticed', () => {
    const names = allScripts.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(Object.fromEntries(allScripts.map(({ name, sha1 }) => [name, sha1])), hashes);
    for (const { text, sha1 } of allScripts) assert.equal(createHash('sha1').update(text).digest('hex'), sha1);
  });

  const rules: readonly {
    readonly name: string;
    readonly breaks: (text: string) => boolean;
    readonly planted: string;
  }[] = [
    {
      name: 'says first what is in KEYS and ARGV',
      breaks: (text) => !/^-- KEYS [^\n]+ARGV [^\n]+\n/.test(text),
      planted: "return redis.call('XLEN', KEYS[1])",
    },
    {
      name: 'adds before it acknowledges',
      breaks: (whole) => {
        // A function stands before its calls; where it is called is what counts.
        const text = whole.replace(/local function forget[\s\S]*?\nend\n/, '').replaceAll('forget(id)', "'XACK'");
        const add = text.indexOf("'XADD'");
        // The acknowledgement that ends a move is the last one of the text; those of gone entries may come before.
        return add >= 0 && text.includes("'XACK'") && text.lastIndexOf("'XACK'") < add;
      },
      planted: "redis.call('XACK', KEYS[1], ARGV[1], id) redis.call('XADD', KEYS[2], '*', unpack(fields))",
    },
    {
      name: 'names no key but those that it was given',
      breaks: (text) =>
        [
          ...text.matchAll(/redis\.p?call\('(\w+)'(?:, '(?:STREAM|GROUPS|CONSUMERS|DELCONSUMER|DESTROY)')?, ([^,)]+)/g),
        ].some(([, command, key = '']) => command !== 'TIME' && !/^(?:KEYS\[\w+\]|key)$/.test(key.trim())),
      planted: "redis.call('XADD', 'orders:dlq', '*')",
    },
    {
      name: 'makes no number of an entry id',
      breaks: (text) => /tonumber\((?:id|first|dead|scanned|bound|edge)\)/.test(text),
      planted: 'if tonumber(id) < 5 then end',
    },
    {
      name: 'leaves no global behind',
      breaks: (text) =>
        /^(?!local |return|if |for |while |end|else|--|\s|redis\.|\w+(?:\.\w+|\[[^\]]+\])* = |\w+, \w+ = )\w+/m.test(
          text,
        ),
      planted: 'function leak() end',
    },
    {
      name: 'uses nothing that depends on the version of Lua or on chance',
      breaks: (text) => /\b(?:goto|math\.random|table\.unpack|os\.|io\.|require|loadstring)\b/.test(text),
      planted: 'return math.random()',
    },
  ];
  for (const { name, breaks, planted } of rules) {
    it(`each ${name}`, () => {
      assert.ok(breaks(planted), 'a planted violation is found');
      for (const script of allScripts) assert.ok(!breaks(script.text), script.name);
    });
  }
});
