export interface CapturedEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A capturing logger and its entries. */
export interface CapturedLogs {
  readonly entries: readonly CapturedEntry[];
  readonly logger: CapturingLogger;
  /** All entries as one text, for searches. */
  readonly text: () => string;
}

interface Write {
  (message: string): void;
  (fields: object, message: string): void;
}

/** Same shape as the service logger. */
export interface CapturingLogger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
  readonly fatal: Write;
  readonly audit: Write;
  readonly child: (fields: object) => CapturingLogger;
}

/** Collects log entries in memory. Child loggers add their fields and share the collection. */
export const captureLogs = (): CapturedLogs => {
  const entries: CapturedEntry[] = [];
  return {
    entries,
    logger: capturing(entries, {}),
    text: () => entries.map((entry) => JSON.stringify(entry, serializeError)).join('\n'),
  };
};

const capturing = (entries: CapturedEntry[], bound: Readonly<Record<string, unknown>>): CapturingLogger => {
  const at = (level: CapturedEntry['level']) => (first: object | string, message?: string) => {
    if (typeof first === 'string') entries.push({ level, fields: bound, message: first });
    else entries.push({ level, fields: { ...bound, ...first }, message: message ?? '' });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    audit: at('info'),
    child: (fields) => capturing(entries, { ...bound, ...fields }),
  };
};

const serializeError = (_key: string, value: unknown): unknown =>
  value instanceof Error ? { message: value.message, stack: value.stack, cause: value.cause } : value;
