/** What `--help` says is what the commands take. */
import assert from 'node:assert/strict';
import { appFlags, workerFlags } from '../../src/worker/app/appOptions';
import { gatewayFlags } from '../../src/worker/gateway/gatewayOptions';
import { usageOf } from '../../src/worker/usage';
import { startWorker } from './support/workerProcess';

const commands = ['run', 'gateway', 'selftest', 'inspect', 'dlq', 'consumers', 'trim', 'lessons', 'sandbox', 'sample'];

const flagsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/--([a-z][a-z-]*)/g)].map(([, flag]) => flag ?? '')),
];

describe('The help', () => {
  it('of the gateway names its flags, all of them and no other', () => {
    const flags = [...appFlags, ...workerFlags, ...gatewayFlags];
    assert.deepEqual(flagsIn(usageOf('gateway')).sort(), [...flags].sort());
  });

  it('of run names the flags of a worker of the runs application', () => {
    const named = flagsIn(usageOf('run'));
    assert.deepEqual(
      [...appFlags, ...workerFlags].filter((flag) => !named.includes(flag)),
      [],
    );
  });

  it('begins with every command', () => {
    for (const command of commands) assert.match(usageOf(undefined), new RegExp(`^ {2}${command}\\b`, 'm'));
  });

  for (const command of commands) {
    it(`is printed by ${command} --help, with exit code 0, and by help ${command}`, async () => {
      const [direct, asked] = [startWorker([command, '--help']), startWorker(['help', command])];
      assert.deepEqual([await direct.ended, await asked.ended], [0, 0]);
      assert.match(direct.output(), new RegExp(`^Usage: node worker\\.js ${command}\\b`));
      assert.equal(asked.output(), direct.output());
    });

    it(`of ${command} fits a terminal`, () => {
      const long = usageOf(command)
        .split('\n')
        .filter((line) => line.length > 140);
      assert.deepEqual(long, []);
    });
  }

  it('is shown when a command is wrong or missing, with exit code 2', async () => {
    for (const args of [[], ['nonsense']]) {
      const process = startWorker(args);
      assert.equal(await process.ended, 2);
      assert.match(process.output(), /Usage: node worker\.js <command>/);
    }
  });
});
