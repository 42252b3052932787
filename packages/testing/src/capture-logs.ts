const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** One call of a logger. */
export interface CapturedEntry {
  readonly level: (typeof LEVELS)[number];
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A logger that keeps what it is told, and what it was told. */
export interface CapturedLogs {
  readonly entries: readonly CapturedEntry[];
  readonly logger: CapturingLogger;
  /** Everything as one text, to search for what must not be in it. */
  text(): string;
}

/** Has the shape of the service logger. */
export type CapturingLogger = {
  readonly [level in (typeof LEVELS)[number]]: (fields: object, message?: string) => void;
} & { readonly level: string; child(fields: object): CapturingLogger };

/** Collects log entries in memory; children share the collection and add their fields. */
export function captureLogs(): CapturedLogs {
  const entries: CapturedEntry[] = [];
  return {
    entries,
    logger: capturing(entries, {}),
    text: () => entries.map((entry) => JSON.stringify(entry, serialiseError)).join('\n'),
  };
}

function capturing(entries: CapturedEntry[], bound: object): CapturingLogger {
  const at = (level: CapturedEntry['level']) => (fields: object, message?: string) => {
    const entry = typeof fields === 'string' ? { fields: { ...bound }, message: fields } : undefined;
    entries.push({ level, ...(entry ?? { fields: { ...bound, ...fields }, message: message ?? '' }) });
  };
  return {
    level: 'trace',
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    child: (fields) => capturing(entries, { ...bound, ...fields }),
  };
}

function serialiseError(_key: string, value: unknown): unknown {
  return value instanceof Error ? { message: value.message, stack: value.stack, cause: value.cause } : value;
}
