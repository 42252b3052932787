import { ConfigError } from '../config/load-config.ts';
import { createLogger, type Logger } from '../logging/create-logger.ts';
import { type ControlledLifecycle, createLifecycle, type Lifecycle } from './lifecycle.ts';

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
