import type { AttackReport } from '../attack.ts';

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
export interface Tally {
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
