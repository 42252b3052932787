import { connect, type Socket } from 'node:net';
import type { BodiesAttack } from '../attack.ts';
import { buildBody, toChunks } from '../body-shapes.ts';
import { createAnswerReader } from './answer-reader.ts';
import type { Attacker, AttackTarget } from './attacker.ts';

/** Pause before a reconnect, so that a gateway that closes at once is not measured by its accepts alone. */
const RECONNECT_MS = 5;

/** Prepares connections that send large bodies one after the other. */
export const sendBodies = (attack: BodiesAttack): Attacker => {
  const model = attack.model === undefined ? '' : `"model":"${attack.model}",`;
  const first = `${model}${attack.isStreamed ? '"stream":true,' : ''}`;
  const whole = buildBody(attack.shape, { bytes: attack.bytes, first });
  const { chunkBytes } = attack;
  const body = chunkBytes === undefined ? whole : toChunks(whole, chunkBytes);
  const framing = chunkBytes === undefined ? `content-length: ${body.length}` : 'transfer-encoding: chunked';
  return (target) => {
    const sockets = new Set<Socket>();
    let isRunning = true;
    const open = (place: number): void => {
      if (!isRunning) return;
      const head = headOf(target, { place, path: attack.path, framing });
      const socket = connect(Number(target.url.port), target.url.hostname);
      sockets.add(socket);
      let isSent = false;
      let isAnswered = false;
      const send = (): void => {
        [isSent, isAnswered] = [false, false];
        const before = socket.bytesWritten;
        socket.write(head);
        socket.write(body, () => {
          target.tally.countBytes(socket.bytesWritten - before);
          isSent = true;
          if (isAnswered) send();
        });
      };
      const reader = createAnswerReader((status) => {
        target.tally.count(status);
        isAnswered = true;
        if (isSent) send();
        else if (attack.isImpatient === true) socket.destroy();
      });
      socket.on('connect', send).on('data', reader.push);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        if (!isAnswered) target.tally.count('closed');
        setTimeout(() => open(place), RECONNECT_MS);
      });
    };
    for (let place = 0; place < attack.connections; place += 1) open(place);
    return () => {
      isRunning = false;
      for (const socket of sockets) socket.destroy();
    };
  };
};

/** Renders the head of a request with a connection's credential. */
export const headOf = (
  { url, credentials }: AttackTarget,
  { place, path, framing }: { place: number; path: string; framing: string },
): string =>
  `POST ${path} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${credentials[place % credentials.length] ?? ''}\r\n` +
  `content-type: application/json\r\n${framing}\r\n\r\n`;
