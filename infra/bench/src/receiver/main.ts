import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createRandom } from '../harness/statistics.ts';

// A partner's TLS receiver in a separate process. The path selects the response: `/cold` closes each connection,
// `/hang` never responds, `/flaky` fails at random (by SEED), any other accepts the event. Over IPC the driver asks it to watch
// for a number of arrivals, confirms, and then reports each: event id if present, time in milliseconds since the epoch,
// and response status.

const EVENT_ID = /"event_id":"([^"]+)"/;
const FAILURE_STATUS = 500;
const FAILURES = 0.05;
const BREAKS = 0.02;
const random = createRandom(Number(process.env['SEED'] ?? 1));
let wanted = 0;
let arrivals: [id: string, at: number, status: number][] = [];

const server = createServer({ key: process.env['KEY'], cert: process.env['CERT'] }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const status = answer(request.url ?? '/', response);
    if (wanted === 0 || status === undefined) return;
    const id = EVENT_ID.exec(Buffer.concat(chunks).toString('latin1'))?.[1] ?? '';
    arrivals.push([id, performance.timeOrigin + performance.now(), status]);
    if (arrivals.length === wanted) tell();
  });
});
server.keepAliveTimeout = 60_000;

/** Returns the response status; undefined for none. */
const answer = (path: string, response: ServerResponse): number | undefined => {
  if (path === '/hang') return undefined;
  const chance = path === '/flaky' ? random() : 1;
  if (chance < BREAKS) {
    response.destroy();
    return 0;
  }
  const status = chance < FAILURES + BREAKS ? FAILURE_STATUS : 204;
  if (path === '/cold') response.setHeader('connection', 'close');
  response.writeHead(status).end();
  return status;
};

const tell = (): void => {
  wanted = 0;
  process.send?.({ arrivals });
};

process.on('message', (message: { expect?: number; tell?: true }) => {
  if (message.tell === true) return tell();
  wanted = message.expect ?? 0;
  arrivals = [];
  // The driver may start only now; earlier arrivals would not be counted.
  process.send?.({ isWatching: true });
});
server.listen(0, 'localhost', () => {
  // A server that listens on a port has an AddressInfo.
  process.send?.({ port: (server.address() as AddressInfo).port });
});
