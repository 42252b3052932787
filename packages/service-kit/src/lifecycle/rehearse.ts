import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setting } from '../config/setting.ts';
import type { Logger } from '../logging/create-logger.ts';

/** The variable that says how much a service rehearses; spread into its own schema. */
export const rehearsalSettings = {
  REHEARSAL_REQUESTS: setting.integer({
    description:
      'Requests that a process answers to itself before it takes any, so that its first callers do not wait for code to be compiled. 4000 take some seconds; 0 makes none.',
    min: 0,
    max: 100_000,
    default: 0,
  }),
};

/** Where a service plays before itself: an application of its own that no caller reaches. */
export interface Stage {
  /** Makes one of the requests, counted from 0. Rejects where it is not answered as it should be. */
  readonly call: (number: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How a service rehearses. */
export interface RehearsalOptions {
  /** None: there is no rehearsal. */
  readonly requests: number;
  /** Those that call at one time. */
  readonly callers: number;
  readonly openStage: () => Promise<Stage>;
  readonly logger: Logger;
}

/** However slow the machine: later requests are not made. */
const DURATION_MS_MAX = 15_000;
/** The share of the requests that is made on a first stage. */
const FIRST_SHARE = 0.25;

/**
 * Has a service answer requests of its own before anybody else's are taken, so that the first callers do not wait for code to be
 * compiled. Never rejects: a process that has not rehearsed is slower, not worse.
 *
 * It plays on two stages, one after the other: what was compiled for the first is thrown away as soon as that is gone, and with it
 * goes much of what every request needs. What is compiled for the second supposes less, and stays (docs/adr/0007).
 */
export const rehearse = async ({ requests, callers, openStage, logger }: RehearsalOptions): Promise<void> => {
  if (requests === 0) return;
  const startedAtMs = performance.now();
  const untilMs = startedAtMs + DURATION_MS_MAX;
  const play = async (from: number, to: number): Promise<void> => {
    const stage = await openStage();
    const callAgain = async (caller: number): Promise<void> => {
      for (let number = from + caller; number < to && performance.now() < untilMs; number += callers) {
        await stage.call(number);
      }
    };
    await Promise.all(Array.from({ length: callers }, (_, caller) => callAgain(caller))).finally(stage.close);
  };
  try {
    const first = Math.ceil(requests * FIRST_SHARE);
    meetWhatComes();
    await play(0, first);
    const collect = collector();
    // Of this kind is what V8 does before it runs out of memory: all that can be collected, and its spaces shrink to what is left.
    collect({ type: 'major', flavor: 'last-resort' });
    await play(first, requests);
    // Not a full one: V8 throws compiled code away in those that it is asked for.
    collect({ type: 'minor' });
    collect({ type: 'minor' });
    logger.info({ duration_ms: Math.round(performance.now() - startedAtMs) }, 'rehearsed');
  } catch (error) {
    logger.warn({ err: error }, 'the rehearsal was broken off');
  }
};

/**
 * Does once what any process does sooner or later, and what V8 supposes nobody does until then: a buffer that is handed on, as the
 * bodies of fetch are, and a timer of a fraction of a millisecond. All code that supposed it would be thrown away.
 */
const meetWhatComes = (): void => {
  new ArrayBuffer(1).transfer();
  clearTimeout(setTimeout(() => {}, 1.5));
};

/** V8's own function, which takes the kind of collection. */
const collector = (): NodeJS.GCFunction => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
};
