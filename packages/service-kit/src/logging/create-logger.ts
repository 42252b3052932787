import { type DestinationStream, pino } from 'pino';
import { allowListed, type LogFields } from './log-fields.ts';
import { reduceError } from './reduce-error.ts';
import { standardOutput } from './standard-output.ts';

type Write = {
  (message: string): void;
  (fields: LogFields, message: string): void;
};

/** Writes JSON lines. Messages are constant texts; variable data goes into fields. */
export interface Logger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
  readonly fatal: Write;
  /** Writes at level `info`, unless the logger is `silent`: a record must not depend on LOG_LEVEL. */
  readonly audit: Write;
  /** Returns a logger that adds these fields to every line. */
  readonly child: (fields: LogFields) => Logger;
}

export interface LoggerOptions {
  readonly service: string;
  readonly level: string;
  /** Receives each line at once; used by tests. Defaults to buffered standard output. */
  readonly destination?: DestinationStream;
}

type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'audit';

/** Creates the logger of a service: JSON to standard output, with allow-listed fields only. */
export const createLogger = (options: LoggerOptions): Logger => {
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: pino.stdTimeFunctions.isoTime,
    messageKey: 'message',
    formatters: { level: (label: string) => ({ level: label }) },
    // Errors are already reduced; pino's serializer would name each of them "Object".
    serializers: { err: (reduced: unknown) => reduced },
  };
  const output = options.destination === undefined ? standardOutput() : undefined;
  const lines = pino(settings, options.destination ?? output?.stream);
  const records = options.level === 'silent' ? lines : lines.child({}, { level: 'info' });
  const writes = (level: Level, message: string, fields: Record<string, unknown>): void => {
    if (level === 'audit') records.info(fields, message);
    else lines[level](fields, message);
    output?.flush(level !== 'debug' && level !== 'info');
  };
  return wrap((level) => (level === 'audit' ? records.isLevelEnabled('info') : lines.isLevelEnabled(level)), writes);
};

/** Keeps the listed fields and the reduced error. */
const toLine = (fields: LogFields): Record<string, unknown> => {
  const line = allowListed(fields);
  return fields.err === undefined ? line : { ...line, err: reduceError(fields.err) };
};

const wrap = (
  isEnabled: (level: Level) => boolean,
  write: (level: Level, message: string, fields: Record<string, unknown>) => void,
  bound?: Record<string, unknown>,
): Logger => {
  const at =
    (level: Level): Write =>
    (first: LogFields | string, message?: string) => {
      if (!isEnabled(level)) return;
      if (typeof first === 'string') write(level, first, bound ?? {});
      else write(level, message ?? '', bound === undefined ? toLine(first) : { ...bound, ...toLine(first) });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    audit: at('audit'),
    child: (fields) => wrap(isEnabled, write, { ...bound, ...toLine(fields) }),
  };
};
