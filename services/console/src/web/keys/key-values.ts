import type { Locale } from '@svc/contracts';
import type { Input, ItemOf } from '../api/index.ts';
import { parseAmount, typedAmount } from '../i18n/index.ts';
import { checkInteger, checkText, fault } from '../ui/index.ts';

type ApiKey = ItemOf<'listKeys'>;

const EXPIRY_DAYS = { keep: undefined, never: undefined, days30: 30, days90: 90, days365: 365 } as const;

/** Expiry of a key: unchanged, never, or after some days. */
export type Expiry = keyof typeof EXPIRY_DAYS;

/** The form of a key, as typed. */
export interface KeyValues {
  readonly name: string;
  readonly expires_at: Expiry;
  readonly requests_per_minute: string;
  readonly tokens_per_minute: string;
  readonly monthly_limit_micros: string;
  /** Names of models, separated by spaces, commas or lines. Empty for all. */
  readonly models: string;
}

export const EMPTY_KEY: KeyValues = {
  name: '',
  expires_at: 'never',
  requests_per_minute: '',
  tokens_per_minute: '',
  monthly_limit_micros: '',
  models: '',
};

const DAY_MS = 86_400_000;
const REQUESTS_PER_MINUTE_MAX = 100_000;
const TOKENS_PER_MINUTE_MAX = 1_000_000_000;

/** Returns the form of an existing key. */
export const valuesOf = (key: ApiKey, locale: Locale): KeyValues => ({
  name: key.name,
  expires_at: 'keep',
  requests_per_minute: textOf(key.requests_per_minute),
  tokens_per_minute: textOf(key.tokens_per_minute),
  monthly_limit_micros: key.monthly_limit_micros === null ? '' : typedAmount(key.monthly_limit_micros, locale),
  models: key.models?.join('\n') ?? '',
});

/** Returns the faults of a form; `amountFault` is the text for an invalid amount. */
export const checkKey = (values: KeyValues, amountFault: string) => [
  ...checkText('name', values.name, { required: true, max: 80 }),
  ...checkInteger('requests_per_minute', values.requests_per_minute, { min: 1, max: REQUESTS_PER_MINUTE_MAX }),
  ...checkInteger('tokens_per_minute', values.tokens_per_minute, { min: 1, max: TOKENS_PER_MINUTE_MAX }),
  ...(isEmpty(values.monthly_limit_micros) || parseAmount(values.monthly_limit_micros) !== undefined
    ? []
    : [fault('monthly_limit_micros', amountFault)]),
];

/** Returns the request of a form. Empty fields remove a limit. */
export const toKeySettings = (values: KeyValues, now: Date): Input<'createKey'>['body'] => {
  const days = EXPIRY_DAYS[values.expires_at];
  const models = values.models.split(/[\s,]+/).filter((name) => name !== '');
  return {
    name: values.name.trim(),
    ...(values.expires_at === 'keep'
      ? {}
      : { expires_at: days === undefined ? null : new Date(now.getTime() + days * DAY_MS).toISOString() }),
    requests_per_minute: isEmpty(values.requests_per_minute) ? null : Number(values.requests_per_minute),
    tokens_per_minute: isEmpty(values.tokens_per_minute) ? null : Number(values.tokens_per_minute),
    monthly_limit_micros: parseAmount(values.monthly_limit_micros) ?? null,
    models: models.length === 0 ? null : models,
  };
};

const isEmpty = (text: string): boolean => text.trim() === '';

const textOf = (count: number | null): string => (count === null ? '' : String(count));
