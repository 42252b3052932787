import { afterEach, expect } from 'vitest';
import { createHttpClient, type HttpClient } from '../../src/providers/http-client/http-client.ts';
import type { HttpRequest } from '../../src/providers/http-client/http-exchange.ts';
import { type RawHttpBehavior, type RawHttpServer, startRawHttpServer } from './raw-http-server.ts';
import { type HandlerChoices, type RecordedExchange, recordExchange } from './recorded-exchange.ts';

/** Servers, clients and exchanges of a test. */
export interface HttpStand {
  readonly server: (behavior?: RawHttpBehavior) => Promise<RawHttpServer>;
  readonly client: (options?: Partial<Parameters<typeof createHttpClient>[0]>) => HttpClient;
  /** Sends a request; a GET of `/` by default. */
  readonly ask: (
    client: HttpClient,
    request: Partial<HttpRequest> & Pick<HttpRequest, 'origin'>,
    choices?: HandlerChoices,
  ) => RecordedExchange;
}

const isLast = (call: string): boolean => call === 'onEnd' || call === 'onError';

/**
 * Creates the fixtures of a test file. After each test everything is closed, and each exchange must have ended exactly
 * once.
 */
export const httpStand = (): HttpStand => {
  let servers: RawHttpServer[] = [];
  let clients: HttpClient[] = [];
  let exchanges: RecordedExchange[] = [];
  afterEach(async () => {
    const closing = servers;
    const ended = exchanges;
    for (const client of clients) client.close();
    [servers, clients, exchanges] = [[], [], []];
    await Promise.all(ended.map(({ over }) => over));
    await Promise.all(closing.map((server) => server.close()));
    for (const { calls } of ended) {
      expect(calls.filter(isLast)).toHaveLength(1);
      expect(calls.at(-1)).toSatisfy(isLast);
    }
  });
  return {
    server: async (behavior) => {
      const server = await startRawHttpServer(behavior);
      servers.push(server);
      return server;
    },
    client: (options) => {
      const limits = { connectTimeoutMs: 5_000, connectionsMax: Number.POSITIVE_INFINITY, keepAliveMs: 60_000 };
      const client = createHttpClient({ ...limits, keepAliveMsMax: 60_000, ...options });
      clients.push(client);
      return client;
    },
    ask: (client, request, choices) => {
      const whole = { method: 'GET', path: '/', headers: {}, body: null, ...request } as const;
      const exchange = recordExchange(client, whole, choices);
      exchanges.push(exchange);
      return exchange;
    },
  };
};

/** Renders a complete response with this body and these header lines. */
export const answerOf = (body: string, ...lines: readonly string[]): string =>
  ['HTTP/1.1 200 OK', `content-length: ${body.length}`, ...lines, '', body].join('\r\n');

/** Waits for the next turn of the event loop, after pending input has been read. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
