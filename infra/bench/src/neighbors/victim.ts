import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { CHAT_MODEL } from '../gateway-under-test.ts';

export type VictimRequest = 'chat' | 'models';

/** Milliseconds of each request from its due time, and failures. */
export interface VictimTimes {
  readonly milliseconds: Readonly<Record<VictimRequest, readonly number[]>>;
  readonly faults: readonly string[];
}

/** A caller with a separate account whose small requests are measured. */
export interface Victim {
  readonly measure: (seconds: number) => Promise<VictimTimes>;
  readonly close: () => Promise<void>;
}

const CONNECTIONS = 32;
/** Interval between two requests of each kind; long enough to leave the machine to the attack. */
const INTERVAL_MS = 25;
const TIMEOUT_MS = 30_000;
const BODY = JSON.stringify({ model: CHAT_MODEL, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 });

/**
 * Opens the connections of a victim. It sends at a fixed rate, so that a slow response does not delay the next request.
 */
export const openVictim = (url: string, key: string): Victim => {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1, bodyTimeout: TIMEOUT_MS });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (request: VictimRequest): Promise<string | undefined> => {
    const { statusCode, body } = await pool.request({
      ...(request === 'chat'
        ? { method: 'POST', path: '/v1/chat/completions', body: BODY }
        : { method: 'GET', path: '/v1/models' }),
      headers,
      headersTimeout: TIMEOUT_MS,
    });
    const text = await body.text();
    const isRight = statusCode === 200 && (request === 'models' || text.includes('"compliance_metadata"'));
    return isRight ? undefined : `${request}: ${statusCode} ${text.slice(0, 200)}`;
  };
  return {
    measure: async (seconds) => {
      const milliseconds: Record<VictimRequest, number[]> = { chat: [], models: [] };
      const faults: string[] = [];
      const startedAt = performance.now();
      const one = async (request: VictimRequest, dueAt: number): Promise<void> => {
        const fault = await ask(request).catch((error: unknown) => `${request}: ${String(error)}`);
        milliseconds[request].push(performance.now() - dueAt);
        if (fault !== undefined) faults.push(fault);
      };
      const asked: Promise<void>[] = [];
      for (let dueAt = startedAt; dueAt < startedAt + seconds * 1_000; dueAt += INTERVAL_MS) {
        const waitMs = dueAt - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        // A timer may be late by up to a millisecond, which is not the gateway's delay.
        const from = waitMs > 0 ? performance.now() : dueAt;
        asked.push(one('chat', from), one('models', from));
      }
      await Promise.all(asked);
      return { milliseconds, faults };
    },
    close: () => pool.close(),
  };
};
