/** How the worker tells what was thrown, whatever it was: it must not fail over it, because nobody is left to catch that. */
import assert from 'node:assert/strict';
import { failureDetails, textLog, thrownText } from '../../src/worker/run/logLines';

const trap = (): never => {
  throw new Error('a trap');
};

describe('What was thrown, in the log of a worker', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  for (const [what, value] of Object.entries({
    'an error whose stack cannot be read': Object.defineProperty(new Error('x'), 'stack', { get: trap }),
    'a proxy that answers nothing': new Proxy(new Error('x'), { get: trap, getPrototypeOf: trap, has: trap }),
    'a revoked proxy': revoked.proxy,
    'an object whose name cannot be read': Object.defineProperty({}, 'name', { get: trap }),
  })) {
    it(`is told of ${what} too`, () => {
      assert.notEqual(thrownText(value), '');
      assert.deepEqual(failureDetails(value), { error_kind: 'Error' });
    });
  }

  it('is the name and the message of an error whose stack is no text', () => {
    assert.equal(thrownText(Object.assign(new TypeError('x'), { stack: ['a', 'b'] })), 'TypeError: x');
  });

  it('is no line that fails because of its details', () => {
    const lines: string[] = [];
    const { info } = console;
    console.info = (line: string): void => void lines.push(line);
    try {
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      textLog().info('told', { big: 1n, circle, trapped: { toJSON: trap }, id: '1-0' });
    } finally {
      console.info = info;
    }
    assert.match(lines.join('\n'), / told .*id=1-0$/);
  });
});
