import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import { type Attacker, type AttackTarget, createAnswerReader } from './attacker.ts';
import type { BodiesAttack, DripAttack, KeysAttack, PipelineAttack } from './attacks.ts';
import { buildBody, toChunks } from './attacks.ts';

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

/** Pause before a reconnect, so that a gateway that closes at once is not measured by its accepts alone. */

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
const headOf = (
  { url, credentials }: AttackTarget,
  { place, path, framing }: { place: number; path: string; framing: string },
): string =>
  `POST ${path} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${credentials[place % credentials.length] ?? ''}\r\n` +
  `content-type: application/json\r\n${framing}\r\n\r\n`;

const DRIP_MS = 1_000;
const DRIP_RECONNECT_MS = 200;
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
        setTimeout(() => open(place), DRIP_RECONNECT_MS);
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

const TICK_MS = 5;
/** Maximum unanswered requests; beyond it, the gateway sets the rate. */
const UNANSWERED_MAX = 5_000;
const BODY = '{"model":"svc-chat","messages":[]}';

/** Prepares requests with unknown API keys. */
export const sendKeys =
  ({ perSecond, connections, isWellFormed }: KeysAttack): Attacker =>
  ({ url, tally }) => {
    const sockets: Socket[] = [];
    let isRunning = true;
    let sent = 0;
    let answered = 0;
    const open = (place: number): void => {
      const socket = connect(Number(url.port), url.hostname).setNoDelay(true);
      sockets[place] = socket;
      const reader = createAnswerReader((status) => {
        answered += 1;
        tally.count(status);
      });
      socket.on('data', reader.push).on('error', () => {});
      socket.on('close', () => {
        if (isRunning) open(place);
      });
    };
    for (let place = 0; place < connections; place += 1) open(place);
    let lastAt = performance.now();
    const timer = setInterval(() => {
      const nowAt = performance.now();
      const due = Math.round(((nowAt - lastAt) / 1_000) * perSecond);
      lastAt = nowAt;
      for (let count = Math.min(due, UNANSWERED_MAX - (sent - answered)); count > 0; count -= 1) {
        sockets[sent % connections]?.write(requestWith(url, isWellFormed ? wellFormedKey() : 'svc_sk_mistyped'));
        sent += 1;
      }
    }, TICK_MS);
    return () => {
      isRunning = false;
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    };
  };

const requestWith = (url: URL, key: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${key}\r\n` +
  `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_CHARACTERS = 40;
const CHECKSUM_CHARACTERS = 7;

/** Creates a key with a valid checksum, which is not secret. */
const wellFormedKey = (): string => {
  const random = [...randomBytes(RANDOM_CHARACTERS)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  let rest = crc32(`svc_sk_${random}`);
  let checksum = '';
  for (let place = 0; place < CHECKSUM_CHARACTERS; place += 1) {
    checksum = ALPHABET.charAt(rest % ALPHABET.length) + checksum;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return `svc_sk_${random}${checksum}`;
};
