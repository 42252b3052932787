import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

// Provider of large responses and uploads in the common wire format: a chat stream of STREAM_BYTES, written as fast as
// it is read, and transcriptions answered after the whole form has arrived.

const STREAM_BYTES = Number(process.env['STREAM_BYTES'] ?? 0);
const MODEL = { chat: 'sandbox-chat-1', audio: 'sandbox-audio-1' };
const TEXT = 'All along the lake. '.repeat(200);

const event = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bulk', object: 'chat.completion.chunk', created: 1, model: MODEL.chat, ...fields })}\n\n`;
const CHUNK = event({ choices: [{ index: 0, delta: { content: TEXT }, finish_reason: null }] });
const END =
  event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
  event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } }) +
  'data: [DONE]\n\n';

const stream = (res: ServerResponse): void => {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_bulk' });
  let left = Math.ceil(STREAM_BYTES / CHUNK.length);
  const write = (): void => {
    while (left > 0) {
      left -= 1;
      if (!res.write(CHUNK)) {
        res.once('drain', write);
        return;
      }
    }
    res.end(END);
  };
  write();
};

const answer = (req: IncomingMessage, res: ServerResponse): void => {
  if (req.url?.endsWith('/chat/completions') === true) {
    stream(res);
    return;
  }
  res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_bulk' });
  res.end(
    JSON.stringify({ model: MODEL.audio, text: 'heard', duration: 60, usage: { type: 'duration', seconds: 60 } }),
  );
};

createServer((req, res) => {
  req.on('data', () => {});
  if (req.method === 'GET') res.end();
  else req.on('end', () => answer(req, res));
}).listen(Number(process.env['PORT']), '127.0.0.1');
