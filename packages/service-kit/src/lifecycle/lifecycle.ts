import type { RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { ConfigError } from '../config/load-config.ts';
import { createLogger, type Logger } from '../logging/create-logger.ts';
import { type Listener, type ListenOptions, listen } from './listen.ts';

/** Stop order of listeners: `internal` ones serve probes and other services until the public ones have drained. */
export interface LifecycleListenOptions extends ListenOptions {
  readonly internal?: boolean;
}

/** Settings that are known once the configuration is loaded. */
export interface LifecycleSettings {
  readonly logger?: Logger;
  /** SHUTDOWN_GRACE_MS: for open requests and streams. */
  readonly shutdownGraceMs?: number;
  /** SHUTDOWN_DELAY_MS: between turning unready and refusing connections. */
  readonly shutdownDelayMs?: number;
}

/** Registry of a service's resources, which stop in order. */
export interface Lifecycle {
  /** True after the stop signal; `/readyz` reads it. */
  readonly isStopping: boolean;
  /** Aborts at the stop signal, which ends loops and long waits. */
  readonly signal: AbortSignal;
  /** Runs at the end, in reverse order, after all responses. Each step gets 10 seconds. */
  readonly onStop: (name: string, stop: () => Promise<void> | void) => void;
  /** Listens, and drains on stop. */
  readonly listen: (handler: RequestListener, options: LifecycleListenOptions) => Promise<Listener>;
  readonly configure: (settings: LifecycleSettings) => void;
}

/** A lifecycle with a `stop` function. */
export interface ControlledLifecycle extends Lifecycle {
  /**
   * Stops everything in order. Repeated calls return the same promise. Returns false if something was cut off or
   * failed.
   */
  readonly stop: () => Promise<boolean>;
}

const STOP_STEP_TIMEOUT_MS = 10_000;
const SHUTDOWN_GRACE_MS = 25_000;

interface Step {
  readonly name: string;
  readonly stop: () => Promise<void> | void;
}

/** Creates a lifecycle. `runService` creates one per process; tests create their own. */
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

export interface RunServiceOptions {
  readonly name: string;
  /** Loads the configuration, builds the application and listens. A rejection ends the process with exit code 1. */
  readonly start: (life: Lifecycle) => Promise<void>;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Runs a service until SIGTERM or SIGINT: not ready, no new connections, drain requests and streams, then `onStop` in
 * reverse order. A second signal ends the process at once. An uncaught error is logged and ends it with exit code 1.
 */
export const runService = ({ name, start }: RunServiceOptions): void => {
  let logger = createLogger({ service: name, level: 'info' });
  const controlled = createLifecycle({ logger });
  const life: Lifecycle = withLogger(controlled, (configured) => {
    logger = configured;
  });
  const crash = (error: unknown): void => {
    logger.fatal({ err: error }, 'the process ends on an uncaught error');
    process.exit(1);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  for (const signal of SIGNALS) process.on(signal, () => onSignal(signal, controlled, () => logger));
  start(life).catch(async (error: unknown) => {
    if (error instanceof ConfigError)
      logger.fatal({ faults: error.faults.map(({ name, expected }) => `${name}: ${expected}`) }, error.message);
    else logger.fatal({ err: error }, 'the service did not start');
    await controlled.stop();
    process.exit(1);
  });
};

const withLogger = (life: ControlledLifecycle, use: (logger: Logger) => void): Lifecycle => ({
  get isStopping() {
    return life.isStopping;
  },
  signal: life.signal,
  onStop: life.onStop,
  listen: life.listen,
  configure: (settings) => {
    if (settings.logger !== undefined) use(settings.logger);
    life.configure(settings);
  },
});

const onSignal = (signal: string, life: ControlledLifecycle, logger: () => Logger): void => {
  if (life.isStopping) {
    logger().warn({ signal }, 'a second signal: ending at once');
    process.exit(1);
  }
  logger().info({ signal }, 'stopping');
  void life.stop().then((isClean) => {
    logger().info({ outcome: isClean ? 'clean' : 'forced' }, 'stopped');
    process.exit(isClean ? 0 : 1);
  });
};
