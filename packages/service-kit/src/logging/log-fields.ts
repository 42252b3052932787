/**
 * Every field that may appear in a log line. Unlisted fields are dropped, so that a request, header or body logged by
 * mistake reveals nothing. No field may hold a token, a secret, a prompt or an answer.
 */
const logFieldNames = [
  // Request
  'request_id',
  'request_ids',
  'trace_id',
  'operation',
  'route',
  'method',
  'status',
  'duration_ms',
  'caller',
  'code',
  'kind',
  'aborted',
  'violations',
  // Actors and objects
  'actor',
  'target',
  'user_id',
  'client_id',
  'owner_id',
  'grant_id',
  'session_id',
  'key_id',
  'connection_id',
  'subscription_id',
  'checkout_session_id',
  'account_id',
  'aggregate',
  'revocation',
  // Events and queues
  'event_id',
  'event',
  'subject',
  'stream',
  'consumer',
  'bucket',
  'sequence',
  'version',
  'generation',
  'attempt',
  'attempts_max',
  'delay_ms',
  'lag',
  'outcome',
  'reason',
  'state',
  'from_state',
  'to_state',
  // Inference and money
  'provider',
  'upstream_route',
  'model',
  'zone',
  'input_tokens',
  'output_tokens',
  'audio_ms',
  'cost_micros',
  'amount_micros',
  'currency',
  'upstream_status',
  'first_byte_ms',
  // Process
  'component',
  'name',
  'count',
  'bytes',
  'limit',
  'timeout_ms',
  'interval_ms',
  'host',
  'port',
  'signal',
  'pending',
  'migration',
  'constraint',
  'table',
  'key_ids',
  'file',
  'line',
  'faults',
  'settings',
] as const;

export type LogFieldName = (typeof logFieldNames)[number];

/** A loggable value. Objects are dropped, except the flat start-up summary in `settings`. */
export type LogValue = string | number | boolean | bigint | null | undefined | readonly (string | number)[];

/** Fields of one log line. `err` takes any thrown value and is reduced to type, code, message and stack. */
export type LogFields = { [name in Exclude<LogFieldName, 'settings'>]?: LogValue } & {
  readonly settings?: Readonly<Record<string, string>>;
  readonly err?: unknown;
};

const allowed: ReadonlySet<string> = new Set(logFieldNames);
const TEXT_CHARACTERS_MAX = 1_000;
/** Items of one field. A batch has at most 64 requests. */
const ITEMS_MAX = 100;

/** Keeps listed fields with plain values and silently drops the rest. */
export const allowListed = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    if (!allowed.has(name)) continue;
    const value = fields[name];
    const plain = name === 'settings' ? flatRecord(value) : plainValue(value);
    if (plain !== undefined) kept[name] = plain;
  }
  return kept;
};

const plainValue = (value: unknown): unknown => {
  if (typeof value === 'string')
    return value.length > TEXT_CHARACTERS_MAX ? value.slice(0, TEXT_CHARACTERS_MAX) : value;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => (isScalar(item) ? plainValue(item) : '?'));
  return undefined;
};

const flatRecord = (value: unknown): Record<string, unknown> | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, item]) => isScalar(item)));
};

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
