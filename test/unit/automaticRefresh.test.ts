// When the tree refreshes by itself: only while it is visible in a window that has the focus.
import assert from 'node:assert/strict';
import type { ConnectionState, LiveConnection } from '../../src/connections/liveConnection';
import { connectionId } from '../../src/connections/profiles';
import type { Environment } from '../../src/connections/profiles';
import { AutomaticRefresh } from '../../src/tree/automaticRefresh';
import { manualClock } from '../support/manualClock';
import type { ManualClock } from '../support/manualClock';

const connected: ConnectionState = {
  kind: 'connected',
  server: { kind: 'redis', version: '7.0.15', role: 'master', isCluster: false },
};

function connectionIn(environment: Environment): LiveConnection & { state: ConnectionState } {
  return {
    profile: { id: connectionId(environment), name: environment, url: 'redis://h', environment, source: 'saved' },
    state: connected,
    isReadOnly: true,
    writableUntilMs: undefined,
    onDidChange: () => ({ dispose: () => undefined }),
    connect: () => Promise.resolve(),
    disconnect: () => undefined,
    read: () => Promise.reject(new Error('Nothing is read here.')),
    hold: () => ({ dispose: () => undefined }),
  };
}

describe('automatic refresh', () => {
  let clock: ManualClock;
  let refreshed: string[];
  let seconds: { others: number; production: number };
  let refreshing: AutomaticRefresh;
  let list: (LiveConnection & { state: ConnectionState })[];

  beforeEach(() => {
    clock = manualClock();
    refreshed = [];
    seconds = { others: 5, production: 0 };
    list = [connectionIn('development'), connectionIn('production')];
    refreshing = new AutomaticRefresh({
      clock,
      list: () => list,
      seconds: (environment) => (environment === 'production' ? seconds.production : seconds.others),
      refresh: ({ profile }) => refreshed.push(profile.name),
    });
  });

  it('happens only while the view is visible and the window has the focus', () => {
    clock.advance(60_000);
    refreshing.setVisible(true);
    clock.advance(60_000);
    assert.deepEqual(refreshed, []);
    refreshing.setFocused(true);
    clock.advance(16_000);
    assert.deepEqual(refreshed, ['development', 'development', 'development']);
    refreshing.setVisible(false);
    clock.advance(60_000);
    refreshing.setFocused(false);
    refreshing.setVisible(true);
    clock.advance(60_000);
    assert.equal(refreshed.length, 3);
    assert.equal(clock.waiting, 0);
  });

  it('leaves production alone unless it is set', () => {
    refreshing.setFocused(true);
    refreshing.setVisible(true);
    clock.advance(30_000);
    assert.ok(!refreshed.includes('production'));
    seconds = { others: 0, production: 30 };
    refreshing.update();
    refreshed.length = 0;
    clock.advance(60_000);
    assert.deepEqual(refreshed, ['production', 'production']);
    seconds = { others: 0, production: 0 };
    refreshing.update();
    assert.equal(clock.waiting, 0);
  });

  it('reads no connection that is not connected', () => {
    for (const connection of list) connection.state = { kind: 'disconnected', byUser: false };
    refreshing.setFocused(true);
    refreshing.setVisible(true);
    clock.advance(60_000);
    assert.deepEqual(refreshed, []);
  });

  it('waits a whole interval after a refresh by hand, and ends with its disposal', () => {
    const [development] = list;
    assert.ok(development);
    refreshing.setFocused(true);
    refreshing.setVisible(true);
    clock.advance(4000);
    refreshing.noteRead(development);
    refreshing.update();
    clock.advance(4000);
    assert.deepEqual(refreshed, []);
    clock.advance(1000);
    assert.deepEqual(refreshed, ['development']);
    refreshing.dispose();
    clock.advance(60_000);
    assert.deepEqual(refreshed, ['development']);
    assert.equal(clock.waiting, 0);
  });
});
