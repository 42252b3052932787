import { setFlagsFromString } from 'node:v8';
import { ConfigError } from '../config/load-config.ts';
import { createLogger, type Logger } from '../logging/create-logger.ts';
import { type ControlledLifecycle, createLifecycle, type Lifecycle } from './lifecycle.ts';

/** What a process runs. */
export interface RunServiceOptions {
  name: string;
  /** Loads the configuration, builds the application and listens. A rejection ends the process with exit code 1. */
  start: (life: Lifecycle) => Promise<void>;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Runs a service until SIGTERM or SIGINT: not ready, no new connections, drain requests and streams, then `onStop` in
 * reverse order. A second signal ends the process at once. Whatever nobody caught is logged and ends it with exit code 1.
 */
export const runService = ({ name, start }: RunServiceOptions): void => {
  keepYoungObjectsYoung();
  collectFullySeldom();
  keepCompiledCode();
  let logger = createLogger({ service: name, level: 'info' });
  const controlled = createLifecycle({ logger });
  const life: Lifecycle = withLogger(controlled, (configured) => {
    logger = configured;
  });
  const crash = (error: unknown): void => {
    logger.fatal({ err: error }, 'the process ends on an error that nobody caught');
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

/**
 * V8 makes objects old from the start where most of those made at the same place outlived a few collections. Of a service that
 * is busy for a moment nearly all do, and the decision stays: an old array, soon of no use, keeps what it points to alive, and
 * so one request after the other, until a full collection. Minor ones then take ten times as long (docs/adr/0006).
 */
const keepYoungObjectsYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring');

/**
 * After a quiet time V8 lets the old generation grow by a third at most until the next full collection: a burst of streams then
 * meets one, which takes a tenth of a core's time for a second, just when most is to be done. It may become three times as
 * large instead, and never more than half way to the heap's limit; what a burst leaves is still given back in the next quiet time.
 */
const collectFullySeldom = (): void => setFlagsFromString('--heap-growing-percent=200');

/**
 * Compiled code that knows the shape of an object is thrown away once nothing of that shape is left. While nobody calls, nothing is
 * left of requests, and the collections that V8 makes then throw much of it away: whoever comes next would wait as the first did
 * (docs/adr/0007).
 */
const keepCompiledCode = (): void => {
  setFlagsFromString('--retain-maps-for-n-gc=1000');
  setFlagsFromString('--no-memory-reducer-favors-memory');
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
