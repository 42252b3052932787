import type { LogFields, Logger } from '@svc/service-kit';
import { currentProcess } from '../engine/simulated-process.ts';
import type { Trace } from '../engine/trace.ts';

const ignore = (): void => undefined;

/** Writes the warnings and errors of services to the trace. */
export const createTraceLogger = (trace: Trace): Logger => {
  const write = (fields: LogFields | string, message?: string): void => {
    const err = typeof fields === 'string' ? undefined : fields.err;
    const reason = err instanceof Error ? `: ${err.message}` : '';
    trace.add(`  ${currentProcess()?.name}: ${message ?? ''}${reason}`.replaceAll(/\s+/g, ' '));
  };
  const logger: Logger = {
    debug: ignore,
    info: ignore,
    warn: write,
    error: write,
    fatal: write,
    audit: ignore,
    child: () => logger,
  };
  return logger;
};
