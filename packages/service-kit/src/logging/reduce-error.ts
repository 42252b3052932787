export interface ReducedError {
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
