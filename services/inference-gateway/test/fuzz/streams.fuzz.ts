import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { BOUND, damaged, damages, inPieces, sizes } from '@svc/testing/fuzz';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAttribution } from '../../src/api-key-requests/attribution.ts';
import { createChunkStamper } from '../../src/api-key-requests/create-chunk-stamper.ts';
import { readLargeEvent } from '../../src/api-key-requests/read-response.ts';
import { createChunkRewriter } from '../../src/delegated-requests/create-chunk-rewriter.ts';
import { rewriteLargeEvent } from '../../src/delegated-requests/rewrite-completion.ts';
import { openResponseMemory } from '../../src/large-json/index.ts';
import type { UpstreamResponse } from '../../src/providers/index.ts';
import { ClientWriter, relayEvents, type StreamEditor } from '../../src/streaming/index.ts';
import { UpstreamFailure } from '../../src/upstream-failure.ts';

// Runs without sockets, to test thousands of streams per second. The conformance tests use real sockets.

const chunk = (more: object): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], ...more })}`;
const delta = (content: string, finish_reason: string | null) =>
  chunk({ choices: [{ index: 0, delta: { content }, finish_reason }] });
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const event = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((content) => delta(content, null)),
  fc.constantFrom(
    delta('', 'stop'),
    chunk({ usage }),
    chunk({ choices: [{}], usage: null }),
    ': ping',
    'event: x\nid: 1',
  ),
  fc.constantFrom(
    'data: [DONE]',
    'data:[DONE]',
    'data: [DONE]\ndata: x',
    'data: {"error":{"message":"no"}}',
    'data: {}',
  ),
  fc.constantFrom(
    'data',
    'data:',
    'data: null',
    'data: [1]',
    'data: {"choices":\ndata: []}',
    `data: "${'x'.repeat(2_000)}"`,
  ),
  fc.json({ maxDepth: 2 }).map((json) => `data: ${json}`),
);
const stream = fc
  .record({
    events: fc.array(event, { maxLength: 8 }),
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    tail: fc.boolean(),
  })
  .map(({ events, lineEnd, tail }) => {
    const text = events.map((lines) => `${lines.replaceAll('\n', lineEnd)}${lineEnd}${lineEnd}`).join('');
    return Buffer.from(tail ? text : text.slice(0, -lineEnd.length));
  });

/** A response that collects its bytes. */
class Caller extends EventEmitter {
  readonly pieces: Buffer[] = [];
  readonly destroyed = false;
  isEnded = false;

  writeHead(): void {}
  write(bytes: Buffer | string): boolean {
    this.pieces.push(Buffer.from(bytes));
    return true;
  }
  end(bytes?: Buffer | string): void {
    if (bytes !== undefined) this.write(bytes);
    this.isEnded = true;
    this.emit('finish');
  }
}

const TOKENS_MAX = 1_000_000;
const REWRITE = { id: 'chatcmpl-1', created: 1, showsUsage: false, tokensMax: TOKENS_MAX };

/** Relays a stream that arrives in these pieces. Returns the bytes for the caller, and the failure. */
const relay = async (pieces: readonly Buffer[], editor: StreamEditor) => {
  const caller = new Caller();
  let isAborted = false;
  const answer: UpstreamResponse = {
    status: 200,
    headers: {},
    pause: () => {},
    resume: () => {},
    abort: () => {
      isAborted = true;
    },
    read: (sink) => {
      if (arrived) return;
      arrived = true;
      for (const piece of pieces) if (!isAborted) sink.onData(piece);
      if (!isAborted) sink.onEnd();
    },
  };
  let arrived = false;
  // Caller has every member of a response that the writer uses.
  const client = new ClientWriter(caller as unknown as ServerResponse, {
    idleTimeoutMs: 1_000,
    keepAliveMs: 15_000,
    silentMs: 0,
    sendsComments: true,
  });
  const ended = await relayEvents({
    response: answer,
    editor,
    limits: { eventBytesMax: 1_000_000, clientIdleTimeoutMs: 1_000, keepAliveMs: 15_000 },
    client,
    owner: { memory: openResponseMemory(), account: 'usr_1' },
    beforeEnd: () => Promise.resolve(),
    clock: () => 0,
  }).catch((error: unknown) => ({ failure: error }));
  caller.emit('close');
  return { failure: ended.failure, sent: Buffer.concat(caller.pieces).toString('latin1'), isEnded: caller.isEnded };
};

const metadata: ComplianceMetadata = {
  schema_version: '2',
  provider: 'P',
  model: 'm',
  data_zone: 'EU',
  ingress_region: 'local',
  upstream_request_id: 'u',
  gateway_request_id: 'g',
  timestamp: 't',
};
const stamper = (mode: 'full' | 'headers') => (): StreamEditor =>
  createChunkStamper({
    mode,
    showsUsage: true,
    tokensMax: TOKENS_MAX,
    attribution: createAttribution({ attributeHead: () => metadata, attribute: () => metadata, covers: () => true }),
    proof: undefined,
    readLarge: async (data) => readLargeEvent(data, { tokensMax: TOKENS_MAX, readsPieces: false }),
  });
/** Splits a stream into lines. Ignores empty ones, because a CRLF may be split, and its LF missing at the end. */
const inLines = (sent: string): string[] => sent.split(/\r\n?|\n/).filter((line) => line !== '');

const editors: [string, () => StreamEditor][] = [
  ['stamped', stamper('full')],
  ['unchanged', stamper('headers')],
  [
    'delegated',
    () =>
      createChunkRewriter({
        ...REWRITE,
        proof: undefined,
        rewriteLarge: async (data, calls) => rewriteLargeEvent(data, { ...REWRITE, readsPieces: false, calls }),
      }),
  ],
];

const DONE_LINE = expect.stringMatching(/^data: ?\[DONE\]$/);

test.each(editors)('relays any stream the same in any pieces, and ends it: %s', async (name, editor) => {
  await fc.assert(
    fc.asyncProperty(stream, damages, sizes, async (bytes, changes, lengths) => {
      const sent = damaged(bytes, changes);
      const whole = await relay([sent], editor());
      const cut = await relay(inPieces(sent, lengths), editor());
      expect({ ...cut, sent: inLines(cut.sent) }).toEqual({ ...whole, sent: inLines(whole.sent) });
      const { failure } = whole;
      if (failure !== undefined && !(failure instanceof AppError)) expect(failure).toBeInstanceOf(UpstreamFailure);
      // A started answer is ended; otherwise the error is answered elsewhere.
      expect(whole.isEnded).toBe(failure === undefined || whole.sent !== '');
      // Lines of other fields may follow in the same event, which clients ignore.
      if (failure === undefined && name !== 'unchanged') expect(inLines(whole.sent)).toContainEqual(DONE_LINE);
      if (failure === undefined && name === 'unchanged')
        expect(sent.toString('latin1')).toContain(whole.sent.trimEnd());
    }),
    BOUND,
  );
});
