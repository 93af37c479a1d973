// A debugger for a process that was started with --inspect: as much of the inspector's protocol, over as much of WebSocket, as it
// takes to pause a thread and to keep it paused.
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { eventually } from '../../support/eventually';
import type { WorkerProcess } from './workerProcess';

/** An attached debugger. */
export class InspectorClient {
  private readonly events: string[] = [];
  private buffered: Buffer = Buffer.alloc(0);
  private lastId = 0;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.buffered = Buffer.concat([this.buffered, chunk]);
      this.readFrames();
    });
    socket.on('error', () => undefined);
  }

  /** Attaches to a process whose first words tell where its inspector listens. */
  static async attach(worker: WorkerProcess): Promise<InspectorClient> {
    const address = await eventually(() => /ws:\/\/127\.0\.0\.1:(\d+)(\/\S+)/.exec(worker.output()) ?? false);
    const [, port, path] = address;
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    };
    const socket = await new Promise<Socket>((resolve, reject) => {
      const upgrade = request({ host: '127.0.0.1', port, path, headers });
      upgrade.once('upgrade', (_response, upgraded) => resolve(upgraded)).once('error', reject);
      upgrade.end();
    });
    return new InspectorClient(socket);
  }

  /** Sends a command without waiting for its reply. */
  send(method: string, params: Readonly<Record<string, unknown>> = {}): void {
    this.lastId += 1;
    const text = Buffer.from(JSON.stringify({ id: this.lastId, method, params }));
    const mask = randomBytes(4);
    const masked = text.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
    const length = text.length < 126 ? [0x80 | text.length] : [0x80 | 126, text.length >> 8, text.length & 0xff];
    this.socket.write(Buffer.concat([Buffer.from([0x81, ...length]), mask, masked]));
  }

  /** Waits until the process has told this event. */
  async saw(event: string): Promise<void> {
    await eventually(() => this.events.includes(event), { what: `the inspector to tell ${event}` });
  }

  detach(): void {
    this.socket.destroy();
  }

  private readFrames(): void {
    for (;;) {
      const short = this.buffered[1] ?? 0;
      const header = short === 127 ? 10 : short === 126 ? 4 : 2;
      if (this.buffered.length < header) return;
      const length =
        short === 127
          ? Number(this.buffered.readBigUInt64BE(2))
          : short === 126
            ? this.buffered.readUInt16BE(2)
            : short;
      if (this.buffered.length < header + length) return;
      const text = this.buffered.subarray(header, header + length).toString('utf8');
      this.buffered = this.buffered.subarray(header + length);
      const method = /"method":"([\w.]+)"/.exec(text)?.[1];
      if (method !== undefined) this.events.push(method);
    }
  }
}
