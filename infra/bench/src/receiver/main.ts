import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

// A partner's receiver over TLS in a process of its own. Over IPC it is asked to watch for a number of arrivals, and answers
// once they are there: when each came, in milliseconds since the epoch, by the event's id where the body has one.

const EVENT_ID = /"event_id":"([^"]+)"/;
let wanted = 0;
let arrivals: [id: string, at: number][] = [];

const server = createServer({ key: process.env['KEY'], cert: process.env['CERT'] }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(204).end();
    if (wanted === 0) return;
    const id = EVENT_ID.exec(Buffer.concat(chunks).toString('latin1'))?.[1] ?? '';
    arrivals.push([id, performance.timeOrigin + performance.now()]);
    if (arrivals.length < wanted) return;
    wanted = 0;
    process.send?.({ arrivals });
  });
});
server.keepAliveTimeout = 60_000;

process.on('message', (message: { expect: number }) => {
  wanted = message.expect;
  arrivals = [];
});
server.listen(0, 'localhost', () => {
  // A server that listens on a port has an AddressInfo.
  process.send?.({ port: (server.address() as AddressInfo).port });
});
