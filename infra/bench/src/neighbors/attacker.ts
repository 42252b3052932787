import type { AttackReport } from './attacks.ts';

/** Target, credentials and counters of an attack. */
export interface AttackTarget {
  readonly url: URL;
  /** Connections use them in turn. */
  readonly credentials: readonly string[];
  readonly tally: Tally;
}

/** Starts an attack and returns the function that ends it. */
export type Attacker = (target: AttackTarget) => () => void;

/** Counts responses by status, and sent bytes. */
interface Tally {
  readonly count: (status: string) => void;
  readonly countBytes: (bytes: number) => void;
  readonly report: () => AttackReport;
}

const BYTES_PER_MEGABYTE = 1_000_000;

export const createTally = (): Tally => {
  const answers: Record<string, number> = {};
  let sent = 0;
  return {
    count: (status) => {
      answers[status] = (answers[status] ?? 0) + 1;
    },
    countBytes: (bytes) => {
      sent += bytes;
    },
    report: () => ({ answers, megabytesSent: Math.round(sent / BYTES_PER_MEGABYTE) }),
  };
};

/** Minimal parser of the responses on a connection. */
interface AnswerReader {
  readonly push: (bytes: Buffer) => void;
}

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '\r\n0\r\n\r\n';
const TAIL_CHARACTERS = LAST_CHUNK.length;

/** Calls `onAnswer` with the status of each complete response. */
export const createAnswerReader = (onAnswer: (status: string) => void): AnswerReader => {
  let head = '';
  let status = '';
  /** Remaining bytes of the body; undefined for a chunked one. */
  let left: number | undefined;
  let tail = '';
  let isInBody = false;

  const startBody = (): Buffer | undefined => {
    const at = head.indexOf(HEAD_END);
    if (at === -1) return undefined;
    status = head.slice(9, 12);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    left = length === undefined ? undefined : Number(length);
    const rest = Buffer.from(head.slice(at + HEAD_END.length), 'latin1');
    head = '';
    isInBody = true;
    return rest;
  };
  const finish = (rest: Buffer): void => {
    isInBody = false;
    tail = '';
    onAnswer(status);
    if (rest.length > 0) push(rest);
  };
  const takeBody = (bytes: Buffer): void => {
    if (left !== undefined) {
      const taken = Math.min(left, bytes.length);
      left -= taken;
      if (left === 0) finish(bytes.subarray(taken));
      return;
    }
    tail = (tail + bytes.toString('latin1', Math.max(0, bytes.length - TAIL_CHARACTERS))).slice(-TAIL_CHARACTERS);
    if (tail === LAST_CHUNK) finish(Buffer.alloc(0));
  };
  const push = (bytes: Buffer): void => {
    if (!isInBody) head += bytes.toString('latin1');
    const body = isInBody ? bytes : startBody();
    if (body !== undefined) takeBody(body);
  };
  return { push };
};
