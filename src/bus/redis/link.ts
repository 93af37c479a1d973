/**
 * One disposable connection: an ioredis client that never reconnects, queues or resends. When the connection breaks, everything in
 * flight rejects at once and the link is over; whoever needs one opens the next. Commands of the same tick leave in one write.
 */
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type * as IoRedis from 'ioredis';
import type { Redis } from 'ioredis';
import { BusError } from '../errors';
import type { BusErrorReason } from '../errors';
import { greet } from './greeting';
import type { GreetingOptions } from './greeting';
import { connectError, linkError, plainCause, replyError } from './replyErrors';
import type { CommandContext } from './replyErrors';
import { formatAddress } from './url';
import type { NodeAddress } from './url';

/** A command to send. A name of two words, such as `XINFO STREAM`, is sent as command and subcommand. */
export interface Call extends CommandContext {
  /** What is sent, when errors should name it differently, such as EVALSHA by its script. */
  readonly name?: string;
  readonly args: readonly (string | Buffer)[];
}

/** What went over the links that share it: for measuring, and for showing how much is asked of a server. */
export interface Traffic {
  /** Connections that were opened. */
  connections: number;
  commands: number;
  /** Writes of all commands of a tick: round trips, when each is waited for. */
  flushes: number;
}

/** How a link is made. */
export interface LinkOptions extends NodeAddress, GreetingOptions {
  readonly tls?: ConnectionOptions | undefined;
  /** For the connection, the TLS handshake and the greeting together. */
  readonly connectTimeoutMs: number;
  /** How long to wait for any byte while a reply is due. */
  readonly socketTimeoutMs: number;
  readonly traffic: Traffic;
  readonly onCommand?: ((command: string) => void) | undefined;
}

/** A connection that has been greeted. */
export class Link {
  /** The id of the connection on the server, when that is known. */
  clientId: string | undefined;
  private readonly client: Redis;
  private readonly lostListeners: ((error: BusError) => void)[] = [];
  private isClosedByUs = false;
  private isTimedOut = false;
  /** True from TCP, and TLS where it is used, being up. */
  private isConnected = false;
  private hangsInTls = false;
  private failure: Error | undefined;
  private firstByte: number | undefined;
  private isCorked = false;

  private constructor(
    private readonly options: LinkOptions,
    private readonly ioredis: typeof IoRedis,
  ) {
    const { host, port, tls, socketTimeoutMs } = options;
    this.client = new ioredis.Redis({
      host,
      port,
      ...(tls === undefined ? {} : { tls: isIP(host) ? tls : { servername: host, ...tls } }),
      lazyConnect: true,
      connectTimeout: 0,
      socketTimeout: socketTimeoutMs,
      protocol: 2,
      stringNumbers: true,
      retryStrategy: null,
      maxRetriesPerRequest: null,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      disableClientInfo: true,
    });
    this.client.on('error', (error: Error) => {
      this.failure ??= error;
      destroy(this.client);
    });
    this.client.on('connect', () => {
      this.isConnected = true;
      this.client.stream.prependOnceListener('data', (bytes: Buffer) => {
        this.firstByte = bytes[0];
      });
    });
    this.client.on('end', () => {
      const error = new BusError(this.endReason(), `The connection to ${this.peer} ended: ${this.endCause()}`);
      for (const listener of this.lostListeners.splice(0)) listener(error);
    });
  }

  /** Connects, authenticates, selects the database and names the connection; rejects with the BusError that tells what failed. */
  static async open(options: LinkOptions, signal?: AbortSignal): Promise<Link> {
    // Loaded by the first connection and not with the bus, so that an extension that has not connected yet starts quickly.
    const link = new Link(options, await import('ioredis'));
    const abort = (): void => {
      link.close();
    };
    const timer = setTimeout(() => {
      link.isTimedOut = true;
      link.hangsInTls = options.tls !== undefined && !link.isConnected && hasTcp(link.client);
      link.client.disconnect();
      destroy(link.client);
    }, options.connectTimeoutMs);
    signal?.addEventListener('abort', abort);
    try {
      if (signal?.aborted)
        throw new BusError('closed', `The connection to ${link.peer} was closed before it was open.`);
      await link.client.connect();
      options.traffic.connections += 1;
      link.clientId = await greet((call) => link.call(call), link.peer, options);
      return link;
    } catch (error) {
      const failure = link.openFailure(error);
      link.close();
      throw failure;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  get peer(): string {
    return formatAddress(this.options);
  }

  get isOpen(): boolean {
    return this.client.status === 'ready' && !this.isClosedByUs;
  }

  /** Calls back once when the link ends, whatever the cause. */
  onLost(listener: (error: BusError) => void): void {
    this.lostListeners.push(listener);
  }

  /** How long to wait for a reply from now on; above the BLOCK of a blocking read. */
  setSocketTimeout(ms: number): void {
    this.client.options.socketTimeout = ms;
  }

  /** Sends a command. Integers in the reply are decimal strings, strings are Buffers. */
  async call(call: Call): Promise<unknown> {
    if (!this.isOpen) throw linkError(this.endReason(), this.endCause(), call, false);
    this.options.traffic.commands += 1;
    this.options.onCommand?.(call.command);
    this.corkForThisTick();
    const words = call.name ?? call.command;
    const space = words.indexOf(' ');
    const name = space < 0 ? words : words.slice(0, space);
    const args = space < 0 ? [...call.args] : [words.slice(space + 1), ...call.args];
    try {
      return await this.client.sendCommand(new this.ioredis.Command(name, args, { replyEncoding: null }));
    } catch (error) {
      if (error instanceof Error && error.name === 'ReplyError') throw replyError(error.message, call);
      throw linkError(this.endReason(), this.endCause(), call, true);
    }
  }

  /** Takes leave: what is in flight is answered, then the server ends the connection. */
  quit(): void {
    this.call({ command: 'QUIT', args: [] }).catch(() => {
      this.close();
    });
    this.isClosedByUs = true;
  }

  /** Drops the connection; calls in flight reject with reason `closed`. */
  close(): void {
    this.isClosedByUs = true;
    this.client.disconnect();
    destroy(this.client);
  }

  private corkForThisTick(): void {
    if (this.isCorked) return;
    this.isCorked = true;
    this.options.traffic.flushes += 1;
    const { stream } = this.client;
    stream.cork();
    process.nextTick(() => {
      this.isCorked = false;
      stream.uncork();
    });
  }

  private openFailure(error: unknown): BusError {
    const { peer } = this;
    const { tls, connectTimeoutMs } = this.options;
    const cannot = `Cannot connect to ${peer}:`;
    if (this.isTimedOut && this.hangsInTls)
      return new BusError(
        'tls',
        `${cannot} it takes connections but did not answer the TLS handshake within ${connectTimeoutMs} ms. Check that this port speaks TLS.`,
      );
    if (this.isTimedOut)
      return new BusError(
        'timeout',
        `${cannot} no answer within ${connectTimeoutMs} ms. Check host and port, and firewalls between here and there.`,
      );
    if (this.firstByte === tlsAlertByte && tls === undefined)
      return new BusError('tls', `${cannot} it answers in TLS. Use rediss:// instead of redis://.`);
    if (isProtocolFailure(this.failure))
      return new BusError('not-redis', `${cannot} what answers there does not speak Redis's protocol. Check the port.`);
    if (error instanceof BusError && error.details.ambiguous === undefined) return error;
    if (this.isClosedByUs) return new BusError('closed', `The connection to ${peer} was closed before it was open.`);
    if (this.failure) return connectError(this.failure, peer);
    return new BusError(
      'connection-lost',
      `${cannot} the other side closed the connection before it answered. If it speaks TLS, use rediss://.`,
      {},
      { cause: plainCause(error) },
    );
  }

  private endReason(): BusErrorReason {
    if (this.isClosedByUs) return 'closed';
    if (isSocketTimeout(this.failure)) return 'timeout';
    return isProtocolFailure(this.failure) ? 'protocol' : 'connection-lost';
  }

  private endCause(): string {
    if (this.isClosedByUs) return 'the connection was closed here.';
    if (isSocketTimeout(this.failure)) return `${this.peer} did not answer in time, so the connection was dropped.`;
    if (isProtocolFailure(this.failure))
      return `${this.peer} sent what is not Redis's protocol, so the connection was dropped.`;
    return `the connection to ${this.peer} was lost.`;
  }
}

/** The first byte of a TLS alert record: how a TLS server answers plain text. */
const tlsAlertByte = 0x15;

function isSocketTimeout(error: Error | undefined): boolean {
  return error?.message.startsWith('Socket timeout.') === true;
}

/** Errors of the socket have a code; the decoder's have none. */
function isProtocolFailure(error: Error | undefined): boolean {
  return error !== undefined && !('code' in error) && !isSocketTimeout(error);
}

/** Ends the socket now instead of after a farewell; there is none yet while connecting has just begun. */
function destroy(client: { readonly stream?: { destroy(): unknown } }): void {
  client.stream?.destroy();
}

/** Tells whether the TCP connection is up; the stream is there only from the tick after connecting began. */
function hasTcp(client: { readonly stream?: { readonly connecting: boolean } }): boolean {
  return client.stream?.connecting === false;
}
