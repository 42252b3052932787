import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { LineConnection } from './line-connection.ts';

/** Where calls go. */
export interface LineClientOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** What is asked for: a path below the base URL, the protocol that is spoken from then on, and its name for errors. */
  readonly path: string;
  readonly protocol: string;
  readonly operationId: string;
}

/** A call: one line, and what becomes of the lines of its answer. */
export interface LineCall {
  readonly line: string;
  /** Milliseconds until the last line of the answer, with those for a new connection. */
  readonly timeoutMs: number;
  /** Answers whether this was the last one. What it throws ends the connection, and the call with it. */
  readonly onLine: (line: string) => boolean;
}

/** Makes calls over connections that are kept for the next ones. */
export interface LineClient {
  /** Rejects where the last line of the answer did not come; ChannelRefused where the other side does not open a channel. */
  readonly ask: (call: LineCall) => Promise<void>;
  /** Ends all of them, and the calls that are under way. */
  readonly close: () => void;
}

/** The other side answered, but opens no channel. */
export class ChannelRefused extends Error {
  override readonly name = 'ChannelRefused';
  readonly status: number;

  constructor(operationId: string, status: number) {
    super(`${operationId} was answered with status ${status}`);
    this.status = status;
  }
}

/** Calls under way at one time. Where so many take long, another one would not be answered in time either. */
const CHANNELS_MAX = 256;
/**
 * After that a new one is opened, which may lead to a replica that was not there before. Less than a load balancer or a firewall
 * leaves a connection idle.
 */
const AGE_MS_MAX = 60_000;
const SWEEP_MS = 5_000;
/** The other side may have ended a connection that was idle for longer than this, and the news of it is waiting to be read. */
const FRESH_MS = 1_000;

/** Creates a client of a channel: connections that begin as HTTP and then carry a line of JSON for each call (docs/adr/0008). */
export const createLineClient = (options: LineClientOptions): LineClient => {
  const all = new Set<LineConnection>();
  const idle: LineConnection[] = [];
  let isClosed = false;
  let opening = 0;

  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const channel of [...idle]) if (isOld(channel, nowMs)) channel.leave();
  }, SWEEP_MS).unref();
  const onClosed = (channel: LineConnection): void => {
    all.delete(channel);
    const at = idle.indexOf(channel);
    if (at !== -1) idle.splice(at, 1);
  };
  const takeIdle = async (): Promise<LineConnection | undefined> => {
    const nowMs = performance.now();
    for (let channel = idle.pop(); channel !== undefined; channel = idle.pop()) {
      if (nowMs - channel.idleSinceMs >= FRESH_MS) await afterPoll();
      if (channel.isUsable && !isOld(channel, nowMs)) return channel;
      channel.leave();
    }
    return undefined;
  };
  const open = async (timeoutMs: number): Promise<LineConnection> => {
    if (all.size + opening >= CHANNELS_MAX) throw new Error('too many calls are under way');
    opening += 1;
    const channel = await openChannel(options, timeoutMs, onClosed).finally(() => {
      opening -= 1;
    });
    all.add(channel);
    return channel;
  };
  return {
    ask: async (call) => {
      const startedAtMs = performance.now();
      const kept = idle.length === 0 ? undefined : await takeIdle();
      const channel = kept ?? (await open(call.timeoutMs));
      if (isClosed) channel.leave();
      const leftMs = Math.ceil(call.timeoutMs - (performance.now() - startedAtMs));
      const timeoutMs = kept === undefined ? leftMs : call.timeoutMs;
      await channel.call({ ...call, timeoutMs });
      if (channel.isUsable) idle.push(channel);
    },
    close: () => {
      isClosed = true;
      clearInterval(sweep);
      for (const channel of all) channel.end(new Error('the client was closed'));
    },
  };
};

const isOld = ({ openedAtMs }: LineConnection, nowMs: number): boolean => nowMs - openedAtMs >= AGE_MS_MAX;

/** When the event loop has read whatever has come until now: the first may come in the same turn, before the loop looks again. */
const afterPoll = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });

const openChannel = (
  { baseUrl, token, path, protocol, operationId }: LineClientOptions,
  timeoutMs: number,
  onClosed: (channel: LineConnection) => void,
): Promise<LineConnection> =>
  new Promise((resolve, reject) => {
    const url = new URL(baseUrl.replace(/\/+$/, '') + path);
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const headers = { connection: 'Upgrade', upgrade: protocol, authorization: `Bearer ${token}` };
    const req = request(url, { agent: false, headers });
    const timer = setTimeout(() => req.destroy(new Error('no connection in time')), timeoutMs);
    req.once('close', () => clearTimeout(timer));
    req.once('error', reject);
    req.once('response', (res: IncomingMessage) => {
      res.destroy();
      reject(new ChannelRefused(operationId, res.statusCode ?? 0));
    });
    req.once('upgrade', (_res, socket, head) => {
      clearTimeout(timer);
      resolve(new LineConnection({ socket, head, onClosed }));
    });
    req.end();
  });
