import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import type { KeysAttack } from '../attack.ts';
import { createAnswerReader } from './answer-reader.ts';
import type { Attacker } from './attacker.ts';

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
