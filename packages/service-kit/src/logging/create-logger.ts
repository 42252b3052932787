import { type DestinationStream, pino } from 'pino';
import { allowListed, type LogFields } from './log-fields.ts';

interface ReducedError {
  readonly type: string;
  readonly code?: string;
  readonly message: string;
  readonly stack?: string;
  readonly constraint?: string;
  readonly cause?: ReducedError;
}

const MESSAGE_CHARACTERS_MAX = 500;
const FRAMES_MAX = 20;
const CAUSES_MAX = 4;

/**
 * Reduces any thrown value to its type, code, message and stack. Removes possible credentials and request data:
 * database drivers and parsers quote their input in messages.
 */
export const reduceError = (error: unknown, depth = 0): ReducedError => {
  if (!(error instanceof Error)) return { type: typeof error, message: typeof error === 'string' ? clean(error) : '' };
  const code = textProperty(error, 'code');
  const constraint = textProperty(error, 'constraint');
  const stack = frames(error);
  return {
    type: error.name,
    ...(code === undefined ? {} : { code: clean(code) }),
    message: safeMessage(error, code),
    ...(constraint === undefined ? {} : { constraint }),
    ...(stack === '' ? {} : { stack }),
    ...(error.cause === undefined || depth >= CAUSES_MAX ? {} : { cause: reduceError(error.cause, depth + 1) }),
  };
};

/** Removes credentials and query strings from a text. */
const clean = (text: string): string =>
  text
    .slice(0, MESSAGE_CHARACTERS_MAX)
    .replace(/\b(Bearer|Basic|DPoP)\s+\S+/gi, '$1 [removed]')
    .replace(/\beyJ[\w-]+\.[\w-]*(\.[\w-]*)?/g, '[removed]')
    .replace(/\b(svc_(sk|cs)_|whsec_|sk_(live|test)_|rk_(live|test)_)\S+/g, '[removed]')
    .replace(/\/\/[^/@\s]*@/g, '//')
    .replace(/(\w+:\/\/[^\s?"']+|\/[^\s?"']*)\?[^\s"']*/g, '$1');

const POSTGRES_CODE = /^[0-9A-Z]{5}$/;

const safeMessage = (error: Error, code: string | undefined): string => {
  // JSON.parse quotes the text that it could not read.
  if (error instanceof SyntaxError) return 'a text could not be parsed';
  const isFromPostgres = code !== undefined && POSTGRES_CODE.test(code) && 'severity' in error;
  if (!isFromPostgres) return clean(error.message);
  // Class 22 (data exception) and 23 (integrity constraint) quote values; knex puts the statement before the last " -
  // ".
  if (code.startsWith('22')) return 'a value does not fit its column';
  return clean(error.message.slice(error.message.lastIndexOf(' - ') + 1));
};

const frames = (error: Error): string =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES_MAX)
    .map((line) => line.trim())
    .join('\n');

const textProperty = (error: Error, name: string): string | undefined => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
};

/** Time for which request lines are buffered: one system call takes longer than rendering a line. */
const DELAY_MS = 50;
/** Maximum bytes buffered. */
const BYTES_MAX = 8 * 1024;

/** Buffered standard output. */
interface StandardOutput {
  readonly stream: ReturnType<typeof pino.destination>;
  /** Writes the buffered lines: now if urgent, otherwise within DELAY_MS. */
  readonly flush: (isUrgent: boolean) => void;
}

let shared: StandardOutput | undefined;

/** Returns the standard output of this process. Loggers share it, so their lines keep their order. */
const standardOutput = (): StandardOutput => {
  shared ??= openStandardOutput();
  return shared;
};

const openStandardOutput = (): StandardOutput => {
  const stream = pino.destination({ fd: 1, sync: true, minLength: BYTES_MAX });
  let timer: NodeJS.Timeout | undefined;
  // Not flushSync, which waits for the disk if output goes to a file: bytes handed to the system survive this process.
  const flushNow = (): void => {
    clearTimeout(timer);
    timer = undefined;
    stream.flush();
  };
  // The last lines explain why the process ended.
  process.once('exit', () => stream.flushSync());
  return {
    stream,
    flush: (isUrgent) => {
      if (isUrgent) flushNow();
      else timer ??= setTimeout(flushNow, DELAY_MS).unref();
    },
  };
};

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
