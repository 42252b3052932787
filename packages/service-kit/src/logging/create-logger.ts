import { type DestinationStream, pino } from 'pino';
import { allowListed, type LogFields } from './log-fields.ts';
import { reduceError } from './reduce-error.ts';
import { standardOutput } from './standard-output.ts';

type Write = {
  (message: string): void;
  (fields: LogFields, message: string): void;
};

/** Writes JSON lines. Messages are fixed texts written by us; whatever varies goes into fields. */
export interface Logger {
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  fatal: Write;
  /** A logger that adds these fields to every line. */
  child: (fields: LogFields) => Logger;
}

/** How a logger is made. */
export interface LoggerOptions {
  service: string;
  level: string;
  /** Where lines go, each at once; standard output, a moment later, unless a test collects them. */
  destination?: DestinationStream;
}

type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** Creates the logger of a service: JSON to standard output, with allow-listed fields only. */
export const createLogger = (options: LoggerOptions): Logger => {
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: pino.stdTimeFunctions.isoTime,
    messageKey: 'message',
    formatters: { level: (label: string) => ({ level: label }) },
    // Errors are reduced before they get here; pino's own serializer would name each of them "Object".
    serializers: { err: (reduced: unknown) => reduced },
  };
  const output = options.destination === undefined ? standardOutput() : undefined;
  const lines = pino(settings, options.destination ?? output?.stream);
  const writes = (level: Level, message: string, fields: Record<string, unknown>): void => {
    lines[level](fields, message);
    output?.flush(level !== 'debug' && level !== 'info');
  };
  return wrap((level) => lines.isLevelEnabled(level), writes);
};

/** Keeps what an error needs for diagnosis, beside the fields on the list. */
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
    child: (fields) => wrap(isEnabled, write, { ...bound, ...toLine(fields) }),
  };
};
