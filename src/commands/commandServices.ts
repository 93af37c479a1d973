import type { EntryId, StreamKey } from '../bus';
import type { ActionLog } from '../connections/actionLog';
import type { ConnectionRegistry } from '../connections/connectionRegistry';
import type { WriteGate } from '../connections/gate';
import type { OpenPort } from '../connections/inspectPort';
import type { LiveConnection } from '../connections/liveConnection';
import type { WorkerDebugging } from '../debugging/workerDebugging';
import type { Sandbox } from '../sandbox/sandbox';
import type { Explorer } from '../tree/explorer';
import type { Log } from '../ui/log';
import type { Notifications } from '../ui/notifications';

/** Shows a stream in its panel, at an entry when one is named. */
export type OpenStreamPanel = (connection: LiveConnection, key: StreamKey, entryId?: EntryId) => unknown;

/** What commands work with. */
export interface CommandServices {
  readonly connections: ConnectionRegistry;
  readonly explorer: Explorer;
  readonly notifications: Notifications;
  readonly log: Log;
  readonly openPort: OpenPort;
  readonly openStreamPanel: OpenStreamPanel;
  readonly gate: WriteGate;
  readonly actionLog: ActionLog;
  readonly debugging: WorkerDebugging;
  readonly sandbox: Sandbox;
  /** Absolute path of the source of the sample's handler. */
  readonly sampleHandler: string;
}
