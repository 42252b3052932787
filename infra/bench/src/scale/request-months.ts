import { idOf, idTimeAt } from '@svc/contracts';

/** Characters of an id's time that stay the same for 32.768 s. The rest of an id is random here. */
const MOMENT_CHARACTERS = 7;
const MOMENT_MS = 32_768;
const NO_BYTES = new Uint8Array(16);

/** A month of ended requests, as billing partitions them. */
export interface RequestMonth {
  /** Suffix of its partitions. */
  readonly name: string;
  readonly fromId: string;
  readonly toId: string;
  /** The bits of these ids, as tables with a row for each request store them. */
  readonly fromBits: string;
  readonly toBits: string;
  readonly fromMs: number;
  /** Its end, or now in the current month. */
  readonly toMs: number;
}

/** Returns the current month and those before it, oldest first. */
export const listRequestMonths = (count: number, nowMs: number): RequestMonth[] => {
  const now = new Date(nowMs);
  const firstMs = (offset: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1);
  return Array.from({ length: count }, (_, index) => {
    const fromMs = firstMs(index + 1 - count);
    const nextMs = firstMs(index + 2 - count);
    return {
      name: new Date(fromMs).toISOString().slice(0, 7).replace('-', '_'),
      fromId: idOf('req', fromMs, NO_BYTES),
      toId: idOf('req', nextMs, NO_BYTES),
      fromBits: bitsAt(fromMs),
      toBits: bitsAt(nextMs),
      fromMs,
      toMs: Math.min(nextMs, nowMs),
    };
  });
};

const bitsAt = (ms: number): string => ms.toString(16).padStart(12, '0').padEnd(32, '0');

/** Returns the first characters of request ids, one for every half minute of a month, and the seconds since 1970 that they stand for. */
export const listMoments = ({ fromMs, toMs }: RequestMonth): { prefixes: string[]; seconds: number[] } => {
  const prefixes: string[] = [];
  const seconds: number[] = [];
  // Whole ones only: the first and the last reach into other months.
  for (let ms = (Math.floor(fromMs / MOMENT_MS) + 1) * MOMENT_MS; ms + MOMENT_MS <= toMs; ms += MOMENT_MS) {
    prefixes.push(`req_${idTimeAt(ms).slice(0, MOMENT_CHARACTERS)}`);
    seconds.push(ms / 1000);
  }
  return { prefixes, seconds };
};
