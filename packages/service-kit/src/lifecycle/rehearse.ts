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

/**
 * Has a service answer requests of its own before anybody else's are taken, so that the first callers do not wait for code to be
 * compiled. Never rejects: a process that has not rehearsed is slower, not worse.
 */
export const rehearse = async ({ requests, callers, openStage, logger }: RehearsalOptions): Promise<void> => {
  if (requests === 0) return;
  const startedAtMs = performance.now();
  const untilMs = startedAtMs + DURATION_MS_MAX;
  try {
    const stage = await openStage();
    const callAgain = async (caller: number): Promise<void> => {
      for (let number = caller; number < requests && performance.now() < untilMs; number += callers) {
        await stage.call(number);
      }
    };
    await Promise.all(Array.from({ length: callers }, (_, caller) => callAgain(caller))).finally(stage.close);
    collectGarbage();
    logger.info({ duration_ms: Math.round(performance.now() - startedAtMs) }, 'rehearsed');
  } catch (error) {
    logger.warn({ err: error }, 'the rehearsal was broken off');
  }
};

/**
 * What the rehearsal leaves is collected while nobody waits, and its memory given back. Otherwise the first callers would wait: with
 * the garbage of 4000 requests a minor and a full collection stop a process for 20 to 30 ms each (docs/adr/0006).
 */
const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  // Of this kind is what V8 does before it runs out of memory: all that can be collected, and its spaces shrink to what is left.
  collect({ type: 'major', flavor: 'last-resort' });
};
