import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { internalRoutes, type readAdmissionsCall } from '@svc/contracts';
import type { ChannelCall } from '@svc/service-kit';

/** The model that the stand-in says it is. */
export const STAND_IN_MODEL = 'stand-in-1';
/** Events of a stream, beside the one that tells its end and the one that tells its usage. */
const STREAM_EVENTS = 20;
const USAGE = { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 };
const COMPLETION = {
  id: 'chatcmpl-stand-in',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: STAND_IN_MODEL,
  choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(600) }, finish_reason: 'stop' }],
  usage: USAGE,
};
/** Providers differ in what they add. */
const ADDITIONS: readonly object[] = [
  {},
  { system_fingerprint: null },
  { service_tier: 'default' },
  { provider: 'stand-in' },
  { system_fingerprint: 'fp', service_tier: 'default' },
];
const CHUNK = { ...COMPLETION, object: 'chat.completion.chunk', usage: undefined };
const DELTA = { ...CHUNK, choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] };
const ADMITTED = { verdict: 'admitted' };
const STOP = { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

/** Plays billing, which admits everything over `admitAll`, and a provider of the common wire format, which says nearly always the same. */
export const standIn: RequestListener = (req, res) => {
  // A rehearsal that is broken off leaves requests half read and streams half sent.
  res.on('error', () => {});
  readJson(req)
    .then((body) => answer(req, res, body))
    .catch(() => res.destroy());
};

const answer = async (
  req: IncomingMessage,
  res: ServerResponse,
  body: Readonly<Record<string, unknown>>,
): Promise<void> => {
  if (body['stream'] === true) return await stream(res);
  res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_stand_in' });
  res.end(textFor(req.url));
};

const textFor = (path: string | undefined): string =>
  path === internalRoutes.settleRequests.path
    ? JSON.stringify({ results: [] })
    : JSON.stringify({ ...COMPLETION, ...nextAddition() });

/** Plays billing's channel. */
export const admitAll = async (call: ChannelCall<ReturnType<typeof readAdmissionsCall>>): Promise<void> => {
  const { admissions } = call.question;
  call.write(admissions.map((_, place) => `${JSON.stringify({ place, admission: ADMITTED })}\n`).join(''));
};

let answered = 0;
const nextAddition = (): object => {
  answered += 1;
  return ADDITIONS[answered % ADDITIONS.length] ?? {};
};

const stream = async (res: ServerResponse): Promise<void> => {
  const addition = nextAddition();
  res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_stand_in' });
  for (let sent = 0; sent < STREAM_EVENTS && !res.destroyed; sent += 1) {
    res.write(event({ ...DELTA, ...addition }));
    await nextTurn();
  }
  res.write(event({ ...STOP, ...addition }));
  res.write(event({ ...CHUNK, ...addition, choices: [], usage: USAGE }));
  res.end('data: [DONE]\n\n');
};

const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

const readJson = async (req: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  // Its only caller is this process.
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
};
