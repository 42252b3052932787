import { createServer, type ServerResponse } from 'node:http';
import { Pool } from 'undici';

// Lower bound of a gateway that admits before forwarding: reads the request, waits for approval by the local billing,
// forwards it and pipes the response back. No keys, no routes, no verification, no usage.

const required = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

const billing = new Pool(required('BILLING_URL'));
const provider = new Pool(required('PROVIDER_URL'), { connections: null });
const HEADERS = { 'content-type': 'application/json', authorization: `Bearer ${required('PROVIDER_KEY')}` };

const forward = async (path: string, body: Buffer, res: ServerResponse): Promise<void> => {
  const admission = await billing.request({ method: 'POST', path: '/', body: '{"hold_micros":1}' });
  await admission.body.dump();
  if (admission.statusCode !== 204) {
    res.writeHead(admission.statusCode).end();
    return;
  }
  provider.dispatch(
    { method: 'POST', path, body, headers: HEADERS },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, status, headers) => {
        res.writeHead(status, { 'content-type': String(headers['content-type']) });
      },
      onResponseData: (_controller, chunk) => void res.write(chunk),
      onResponseEnd: () => void res.end(),
      onResponseError: () => res.destroy(),
    },
  );
};

const server = createServer((req, res) => {
  const parts: Buffer[] = [];
  req.on('data', (part: Buffer) => parts.push(part));
  req.on('end', () => {
    if (req.method === 'GET') res.end();
    else forward(req.url ?? '/', Buffer.concat(parts), res).catch(() => res.destroy());
  });
});
server.keepAliveTimeout = 120_000;
server.listen(Number(process.env['PORT']), '127.0.0.1');
