import { type TestTokens, testTokens } from '@svc/testing';
import { Pool } from 'undici';
import { CHAT_MODEL, createKeys, startGateway, startProvider } from './gateway-under-test.ts';
import { closedLoop, interleave, type Round } from './harness/load.ts';
import { metered } from './harness/metered.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { type Stack, startStack } from './harness/stack.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CALLERS = 8;
const PROMPT = 'Say something about Lake Como. [[chunks=20]]';

/** One of the two wire formats for the same chat. */
interface Format {
  readonly path: string;
  readonly json: (isStream: boolean) => object;
  /** End of a complete stream. */
  readonly lastEvent: string;
}

const CHAT: Format = {
  path: '/v1/chat/completions',
  json: (stream) => ({ model: CHAT_MODEL, stream, messages: [{ role: 'user', content: PROMPT }] }),
  lastEvent: 'data: [DONE]',
};
const RESPONSES: Format = {
  path: '/v1/responses',
  json: (stream) => ({ model: CHAT_MODEL, stream, input: PROMPT }),
  lastEvent: '"type":"response.completed"',
};

/** Compares the gateway's processor time for a chat in the Responses format with the chat format, by turns. */
export const measureResponses = async (): Promise<void> => {
  const stack = await startStack();
  const tokens = await testTokens();
  try {
    await compare(stack, tokens);
    say(`Load average after: ${loadText()}.\n`);
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

const compare = async (stack: Stack, tokens: TestTokens): Promise<void> => {
  const services = await startGateway(stack, { tokens, ...(await startProvider(stack)) });
  const keys = await createKeys(services, tokens, CALLERS);
  const pool = new Pool(services.gateway.url, { connections: CALLERS, pipelining: 1 });
  const { pid } = services.gateway.process;
  const rows: (string | number)[][] = [];
  for (const isStream of [false, true]) {
    const round = (format: Format) => (): Promise<Round> =>
      closedLoop({ callers: CALLERS, seconds: SECONDS }, (caller) =>
        ask(pool, format, { isStream, key: keys[caller] ?? '' }),
      );
    for (const format of [CHAT, RESPONSES]) await round(format)();
    const chat = metered(pid, round(CHAT));
    const responses = metered(pid, round(RESPONSES));
    const { foreign } = await interleave({ chat: chat.round, responses: responses.round }, ROUNDS);
    const ratio = responses.perCall() / chat.perCall();
    rows.push([isStream ? 'SSE, 20 chunks' : 'JSON', chat.perCall(), responses.perCall(), ratio, foreign]);
  }
  say(`${CALLERS} connections, ${ROUNDS} rounds of ${SECONDS} s each in turns:\n`);
  printTable(['', 'chat CPU us/request', 'responses CPU us/request', 'ratio', 'foreign CPU share'], rows);
  await pool.close();
};

/** Measures the milliseconds of a request. Throws for an incomplete answer. */
const ask = async (
  pool: Pool,
  format: Format,
  { isStream, key }: { readonly isStream: boolean; readonly key: string },
): Promise<number> => {
  const startedAt = performance.now();
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: format.path,
    body: JSON.stringify(format.json(isStream)),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
  const text = await body.text();
  const isWhole = isStream ? text.includes(format.lastEvent) : text.trimEnd().endsWith('}');
  if (statusCode !== 200 || !isWhole || !text.includes('"compliance_metadata"'))
    throw new Error(`${format.path}: ${statusCode} ${text.slice(-300)}`);
  return performance.now() - startedAt;
};
