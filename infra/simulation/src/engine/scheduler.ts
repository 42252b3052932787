import { createHash } from 'node:crypto';
import type { SteppedConnection } from '../database/stepped-connection.ts';
import type { Stepper } from '../database/stepper.ts';
import type { Random } from './random.ts';
import type { ImmediateQueue } from './replace-globals.ts';
import type { VirtualTime } from './time.ts';
import { realTurn } from './time.ts';

/**
 * Resolves when no code of the services can go on by itself: it waits for the database, the network or a timer, all of which
 * belong to the scheduler. Files are read and written synchronously (`replaceFiles`).
 */
const quiesce = async (immediates: ImmediateQueue): Promise<void> => {
  do await realTurn();
  while (immediates.run());
};

/** A step that was made. */
export interface Step {
  readonly number: number;
}

export interface Scheduler {
  /** Makes the next step. Returns undefined if nothing can ever happen any more. */
  readonly step: () => Promise<Step | undefined>;
  /** Lets all code run until it waits for the scheduler. */
  readonly settle: () => Promise<void>;
  readonly steps: () => number;
}

interface SchedulerOptions {
  readonly time: VirtualTime;
  readonly stepper: Stepper;
  readonly random: Random;
  readonly immediates: ImmediateQueue;
  readonly trace: Trace;
}

/** Chance that a due event goes before a database request, and that one of the near future does. */
const DUE_EVENT = 0.5;
const EARLY_EVENT = 0.08;
const EARLY_MS = 25;
/** Time that the server takes for a request, and that of the few slow ones. */
const REQUEST_MEAN_MS = 0.4;
const SLOW_REQUEST = 0.004;
const SLOW_REQUEST_MEAN_MS = 60;
const TEXT_CHARACTERS = 70;

/** Creates the scheduler, which alone decides what happens next: a request at a database, or the next event in time. */
export const createScheduler = ({ time, stepper, random, immediates, trace }: SchedulerOptions): Scheduler => {
  let number = 0;
  const settle = (): Promise<void> => quiesce(immediates);
  const chooseEvent = (runnable: number): boolean => {
    const event = time.peek();
    if (event === undefined) return false;
    if (runnable === 0) return true;
    const waitMs = event.dueMs - time.nowMs();
    return waitMs <= 0 ? random.chance(DUE_EVENT) : waitMs < EARLY_MS && random.chance(EARLY_EVENT);
  };
  const stepConnection = async (connection: SteppedConnection): Promise<Step> => {
    time.advance(random.around(random.chance(SLOW_REQUEST) ? SLOW_REQUEST_MEAN_MS : REQUEST_MEAN_MS));
    const { text, owner } = connection;
    const outcome = await stepper.step(connection);
    trace.add(
      `${number} ${time.elapsedMs().toFixed(3)} ${owner?.name} c${connection.number} ${outcome} ${shorten(text)}`,
    );
    return { number };
  };
  return {
    settle,
    steps: () => number,
    step: async () => {
      await settle();
      const runnable = stepper.runnable();
      if (runnable.length === 0 && time.peek() === undefined) return undefined;
      number += 1;
      if (!chooseEvent(runnable.length)) return await stepConnection(random.pick(runnable));
      const event = time.runNext();
      trace.add(`${number} ${time.elapsedMs().toFixed(3)} ${event?.label}`);
      return { number };
    },
  };
};

const SHORTENED_MAX = 2_000;
const shortened = new Map<string, string>();

/** Returns the beginning of a statement on one line. Statements repeat, so this remembers them. */
const shorten = (text: string): string => {
  const known = shortened.get(text);
  if (known !== undefined) return known;
  const short = text.replaceAll(/\s+/g, ' ').slice(0, TEXT_CHARACTERS);
  if (shortened.size < SHORTENED_MAX) shortened.set(text, short);
  return short;
};

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
