import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestTokens, testTokens } from '@svc/testing';
import { freePort } from '@svc/testing/servers';
import {
  CHAT_MODEL,
  createKeys,
  createSubscribers,
  type GatewayUnderTest,
  startGateway,
} from './gateway-under-test.ts';
import { printTable, say } from './harness/report.ts';
import { residentMegabytes, watchPeak } from './harness/resources.ts';
import { type Stack, startStack } from './harness/stack.ts';

const STREAM_BYTES = 100_000_000;
const UPLOADS = [
  { files: 4, bytes: 20_000_000 },
  { files: 50, bytes: 25_000_000 },
];
const WARM_UP = 50;
const WARM_UP_BYTES = 20_000;
/** Pause between phases, to release sockets and buffers. */
const REST_MS = 3_000;
/** Bytes that a slow reader takes at once, and its pause. */
const GULP_BYTES = 128 * 1024;
const GULP_MS = 5;
const PIECE = Buffer.alloc(64 * 1024, 7);
const BOUNDARY = 'bench-boundary';

interface World extends GatewayUnderTest {
  readonly accessTokens: readonly string[];
  readonly key: string;
}

/**
 * Measures the resident memory that concurrent large uploads and a slow reader of a large stream add to the gateway.
 */
export const measureMemory = async (): Promise<void> => {
  const stack = await startStack();
  const tokens = await testTokens();
  try {
    const world = await prepare(stack, tokens);
    await uploadAll(world, WARM_UP, WARM_UP_BYTES);
    await sleep(REST_MS);
    const idle = residentMegabytes(world.gateway.process.pid);
    const rows: (string | number)[][] = [];
    const measure = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      const before = residentMegabytes(world.gateway.process.pid);
      const peak = await peakDuring(world.gateway.process.pid, work);
      rows.push([name, before, peak, peak - before, peak - idle]);
      await sleep(REST_MS);
    };
    for (const { files, bytes } of UPLOADS) {
      await measure(`${files} uploads of ${bytes / 1e6} MB at once`, () => uploadAll(world, files, bytes));
    }
    await measure(`a slow reader of ${STREAM_BYTES / 1e6} MB`, () => readSlowly(world));
    say('Resident memory of the gateway in MB, every answer whole:\n');
    printTable(['what', 'before', 'peak', 'growth', 'above idle'], rows);
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

const prepare = async (stack: Stack, tokens: TestTokens): Promise<World> => {
  const port = await freePort();
  const providerKey = randomBytes(16).toString('hex');
  const script = new URL('./bulk-provider/main.ts', import.meta.url).pathname;
  const providerUrl = `http://127.0.0.1:${port}`;
  const provider = await stack.startScript(script, { PORT: String(port), STREAM_BYTES: String(STREAM_BYTES) });
  await provider.ready(providerUrl);
  const services = await startGateway(stack, { tokens, providerUrl, providerKey, launch: { isBundled: true } });
  const accessTokens = await createSubscribers(services, tokens, Math.max(...UPLOADS.map(({ files }) => files)));
  const [key = ''] = await createKeys(services, tokens, 1);
  return { ...services, accessTokens, key };
};

const uploadAll = async ({ gateway, accessTokens }: World, files: number, bytes: number): Promise<void> => {
  await Promise.all(accessTokens.slice(0, files).map((token) => upload(gateway.url, token, bytes)));
};

const upload = async (url: string, token: string, bytes: number): Promise<void> => {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n\r\n`;
  const tail = `\r\n--${BOUNDARY}--\r\n`;
  const answer = await send(url, {
    path: '/v1/integrations/inference/audio/transcriptions',
    token,
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    length: head.length + bytes + tail.length,
    body: Readable.from(pieces(head, bytes, tail)),
  });
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  if (answer.statusCode !== 200) throw new Error(`an upload was answered ${answer.statusCode}: ${text.slice(0, 300)}`);
};

function* pieces(head: string, bytes: number, tail: string): Generator<Buffer> {
  yield Buffer.from(head);
  for (let left = bytes; left > 0; left -= PIECE.length) yield PIECE.subarray(0, Math.min(left, PIECE.length));
  yield Buffer.from(tail);
}

const readSlowly = async ({ gateway, key }: World): Promise<void> => {
  const body = JSON.stringify({
    model: CHAT_MODEL,
    stream: true,
    messages: [{ role: 'user', content: 'Tell me all.' }],
  });
  const answer = await send(gateway.url, {
    path: '/v1/chat/completions',
    token: key,
    type: 'application/json',
    length: body.length,
    body: Readable.from([body]),
  });
  let total = 0;
  let gulp = 0;
  let last = '';
  for await (const chunk of answer) {
    const { length } = Buffer.from(chunk);
    total += length;
    gulp += length;
    last = (last + String(chunk)).slice(-20);
    if (gulp > GULP_BYTES) {
      gulp = 0;
      await sleep(GULP_MS);
    }
  }
  if (total < STREAM_BYTES || !last.endsWith('data: [DONE]\n\n'))
    throw new Error(`the stream was interrupted after ${total} bytes`);
};

interface Sending {
  readonly path: string;
  readonly token: string;
  readonly type: string;
  readonly length: number;
  readonly body: Readable;
}

const send = (url: string, { path, token, type, length, body }: Sending): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'content-length': length };
    const sent = request(`${url}${path}`, { method: 'POST', headers, agent: false }, resolve).on('error', reject);
    body.pipe(sent);
  });

const peakDuring = async (pid: number, work: () => Promise<unknown>): Promise<number> => {
  const peak = watchPeak(pid);
  try {
    await work();
  } finally {
    peak.stop();
  }
  return peak.stop();
};
