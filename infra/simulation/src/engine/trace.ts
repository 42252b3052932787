import { createHash } from 'node:crypto';

const LINES_KEPT = 40;

/** The steps of a run: the last ones as text, and all of them as a hash that equals that of a replay. */
export interface Trace {
  readonly add: (line: string) => void;
  readonly lines: () => readonly string[];
  readonly hash: () => string;
}

export const createTrace = (onLine?: (line: string) => void): Trace => {
  const hash = createHash('sha256');
  let kept: string[] = [];
  return {
    add: (line) => {
      onLine?.(line);
      hash.update(`${line}\n`);
      kept.push(line);
      if (kept.length > 2 * LINES_KEPT) kept = kept.slice(-LINES_KEPT);
    },
    lines: () => kept.slice(-LINES_KEPT),
    hash: () => hash.copy().digest('hex').slice(0, 16),
  };
};
