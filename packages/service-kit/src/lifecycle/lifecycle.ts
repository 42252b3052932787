import type { RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from '../logging/create-logger.ts';
import { type Listener, type ListenOptions, listen } from './listen.ts';

/** Which listeners stop first: `internal` ones answer probes and other services until the public ones have drained. */
export interface LifecycleListenOptions extends ListenOptions {
  internal?: boolean;
}

/** What a lifecycle may be told once the configuration is loaded. */
export interface LifecycleSettings {
  logger?: Logger;
  /** SHUTDOWN_GRACE_MS: for open requests and streams. */
  shutdownGraceMs?: number;
  /** SHUTDOWN_DELAY_MS: between turning unready and refusing connections. */
  shutdownDelayMs?: number;
}

/** What a service registers while it starts, so that it stops in order. */
export interface Lifecycle {
  /** True from the stop signal on; `/readyz` looks at it. */
  readonly isStopping: boolean;
  /** Aborts at the stop signal: loops and long waits end by it. */
  readonly signal: AbortSignal;
  /** Runs at the end, in reverse order, after all requests are answered. Each gets 10 seconds. */
  onStop: (name: string, stop: () => Promise<void> | void) => void;
  /** Listens, and drains at stop. */
  listen: (handler: RequestListener, options: LifecycleListenOptions) => Promise<Listener>;
  /** Sets what only the configuration knows. */
  configure: (settings: LifecycleSettings) => void;
}

/** A lifecycle together with the means to end it. */
export interface ControlledLifecycle extends Lifecycle {
  /** Stops everything in order; asked again, it answers the same. False: something was cut off or failed. */
  stop: () => Promise<boolean>;
}

const STOP_STEP_TIMEOUT_MS = 10_000;
const SHUTDOWN_GRACE_MS = 25_000;

interface Step {
  name: string;
  stop: () => Promise<void> | void;
}

/** Creates a lifecycle; `runService` makes one for a process, tests make their own. */
export const createLifecycle = (initial: LifecycleSettings & { logger: Logger }): ControlledLifecycle => {
  const settings = { shutdownGraceMs: SHUTDOWN_GRACE_MS, shutdownDelayMs: 0, ...initial };
  const controller = new AbortController();
  const listeners: { listener: Listener; internal: boolean }[] = [];
  const steps: Step[] = [];
  let stopping: Promise<boolean> | undefined;

  const drainAll = async (internal: boolean, deadlineMs: number): Promise<boolean> => {
    const chosen = listeners.filter((item) => item.internal === internal);
    const graceMs = Math.max(0, deadlineMs - Date.now());
    const drained = await Promise.all(chosen.map(({ listener }) => listener.drain(graceMs)));
    if (drained.every(Boolean)) return true;
    settings.logger.warn({ timeout_ms: settings.shutdownGraceMs }, 'open requests were cut off at shutdown');
    return false;
  };
  const stopAll = async (): Promise<boolean> => {
    controller.abort();
    if (settings.shutdownDelayMs > 0) await setTimeout(settings.shutdownDelayMs);
    const deadlineMs = Date.now() + settings.shutdownGraceMs;
    const outcomes = [await drainAll(false, deadlineMs), await drainAll(true, deadlineMs)];
    for (const step of steps.toReversed()) outcomes.push(await runStep(step, settings.logger));
    return outcomes.every(Boolean);
  };

  return {
    get isStopping() {
      return controller.signal.aborted;
    },
    signal: controller.signal,
    onStop: (name, stop) => {
      steps.push({ name, stop });
    },
    listen: async (handler, options) => {
      const listener = await listen(handler, options);
      listeners.push({ listener, internal: options.internal ?? false });
      return listener;
    },
    configure: (changes) => {
      Object.assign(settings, changes);
    },
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
};

const runStep = async (step: Step, logger: Logger): Promise<boolean> => {
  const done = new AbortController();
  const timeout = setTimeout(STOP_STEP_TIMEOUT_MS, undefined, { signal: done.signal }).then(() => {
    throw new Error('took too long');
  });
  try {
    await Promise.race([Promise.resolve().then(step.stop), timeout]);
    return true;
  } catch (error) {
    logger.error({ name: step.name, err: error }, 'a part of the service did not stop');
    return false;
  } finally {
    timeout.catch(() => undefined);
    done.abort();
  }
};
