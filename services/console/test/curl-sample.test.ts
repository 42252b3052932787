import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { curlSample } from '../src/web/webhooks/webhook-operations.ts';

test('sends the payload unchanged, with a signature that the receiver accepts', async () => {
  const got: { body: string; signature: string }[] = [];
  const receiver = createServer(async (request, response) => {
    got.push({ body: await text(request), signature: String(request.headers['x-svc-signature']) });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  // The server listens on a TCP port.
  const { port } = receiver.address() as AddressInfo;
  const payload = `{"data":{"message":"It's $HOME \`now\` \\"quoted\\""}}`;
  const command = curlSample({ url: `http://127.0.0.1:${port}/hooks`, eventId: 'evt_1', payload });
  await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, SIGNING_SECRET: 'whsec_x' } });
  receiver.close();
  const [, seconds = '', v1] = /^t=(\d+),v1=(\w+)$/.exec(got[0]?.signature ?? '') ?? [];
  expect(got[0]?.body).toBe(payload);
  expect(v1).toBe(createHmac('sha256', 'whsec_x').update(`${seconds}.${payload}`).digest('hex'));
});
