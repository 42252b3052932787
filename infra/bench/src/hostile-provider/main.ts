import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setPriority } from 'node:os';

// Provider in the common wire format whose response depends on the first path segment: `/sink` an ordinary response to
// any request, `/empty-choices` megabytes of `{}`, `/one-event` the same as one server-sent event, `/events` large
// events without end. It discards request bodies and runs at low priority.
setPriority(Number(process.env['NICE']));

const MODEL = 'hostile-1';
const BYTES = 15_000_000;
const EVENT_BYTES = 1_000_000;
const EVENTS = 60;

const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
const common = { id: 'chatcmpl-hostile', created: 1, model: MODEL };
const ORDINARY = JSON.stringify({
  ...common,
  object: 'chat.completion',
  usage,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Heard.' }, finish_reason: 'stop' }],
});
const emptyChoices = `[${'{},'.repeat(BYTES / 3)}{}]`;
const EMPTY_CHOICES = `{"id":"a","model":"${MODEL}","choices":${emptyChoices}}`;
const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...fields })}\n\n`;
const delta = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const ORDINARY_STREAM = `${chunk(delta('Heard.'))}${chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })}data: [DONE]\n\n`;
const ONE_EVENT = `${chunk(delta('x'))}data: ${EMPTY_CHOICES}\n\ndata: [DONE]\n\n`;
/** Escapes, with a different text in each event. */
const LARGE_EVENTS = Array.from({ length: EVENTS }, (_, place) => chunk(delta(`${place}é"`.repeat(EVENT_BYTES / 8))));

const BODIES: Readonly<Record<string, readonly string[]>> = {
  sink: [ORDINARY],
  'sink streamed': [ORDINARY_STREAM],
  'empty-choices': [EMPTY_CHOICES],
  'one-event streamed': [ONE_EVENT],
  'events streamed': [chunk(delta('x')), ...LARGE_EVENTS, 'data: [DONE]\n\n'],
};

const answer = (req: IncomingMessage, res: ServerResponse): void => {
  const isStreamed = String(req.headers.accept).includes('event-stream');
  const [, mode = ''] = (req.url ?? '').split('/');
  const pieces = [...(BODIES[`${mode}${isStreamed ? ' streamed' : ''}`] ?? [ORDINARY])];
  res.writeHead(200, {
    'content-type': isStreamed ? 'text/event-stream' : 'application/json',
    'x-request-id': 'req_hostile',
  });
  const write = (): void => {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      if (!res.write(piece) && pieces.length > 0) {
        res.once('drain', write);
        return;
      }
    }
    res.end();
  };
  write();
};

createServer((req, res) => {
  req.on('data', () => {});
  if (req.method === 'GET') res.end();
  else req.on('end', () => answer(req, res));
}).listen(Number(process.env['PORT']), '127.0.0.1');
