import { connect, type Socket } from 'node:net';
import type { PipelineAttack } from '../attack.ts';
import { createAnswerReader } from './answer-reader.ts';
import type { Attacker } from './attacker.ts';

const REQUESTS_AT_ONCE = 2_000;
const RECONNECT_MS = 5;

/** Prepares connections that keep thousands of requests with an unknown key in flight. */
export const pipeline =
  ({ connections, path }: PipelineAttack): Attacker =>
  ({ url, tally }) => {
    const requests = Buffer.from(
      `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer svc_sk_x\r\n\r\n`.repeat(REQUESTS_AT_ONCE),
    );
    const sockets = new Set<Socket>();
    let isRunning = true;
    const open = (): void => {
      if (!isRunning) return;
      const socket = connect(Number(url.port), url.hostname);
      sockets.add(socket);
      const send = (): void => {
        tally.countBytes(requests.length);
        socket.write(requests, (error) => {
          if (!error) send();
        });
      };
      socket
        .on('connect', send)
        .on('data', createAnswerReader(tally.count).push)
        .on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        setTimeout(open, RECONNECT_MS);
      });
    };
    for (let place = 0; place < connections; place += 1) open();
    return () => {
      isRunning = false;
      for (const socket of sockets) socket.destroy();
    };
  };
