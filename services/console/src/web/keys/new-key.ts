import type { Input } from '../api/index.ts';
import { parseAmount } from '../i18n/index.ts';
import { checkInteger, checkText, fault } from '../ui/index.ts';

/** When a key can expire. */
const EXPIRY_DAYS = { never: undefined, days30: 30, days90: 90, days365: 365 } as const;

/** One of the choices. */
export type Expiry = keyof typeof EXPIRY_DAYS;

/** The form of a new key, as typed. */
export interface NewKeyValues {
  readonly name: string;
  readonly expires_at: Expiry;
  readonly requests_per_minute: string;
  readonly monthly_limit_micros: string;
}

const DAY_MS = 86_400_000;
const REQUESTS_PER_MINUTE_MAX = 100_000;

/** The faults of a new key; `amountFault` is the text for what is no amount. */
export const checkNewKey = (values: NewKeyValues, amountFault: string) => [
  ...checkText('name', values.name, { required: true, max: 80 }),
  ...checkInteger('requests_per_minute', values.requests_per_minute, { min: 1, max: REQUESTS_PER_MINUTE_MAX }),
  ...(isEmpty(values.monthly_limit_micros) || parseAmount(values.monthly_limit_micros) !== undefined
    ? []
    : [fault('monthly_limit_micros', amountFault)]),
];

/** The request that the form stands for. */
export const toCreateKey = (values: NewKeyValues, now: Date): Input<'createKey'>['body'] => {
  const days = EXPIRY_DAYS[values.expires_at];
  const limit = parseAmount(values.monthly_limit_micros);
  return {
    name: values.name.trim(),
    ...(days === undefined ? {} : { expires_at: new Date(now.getTime() + days * DAY_MS).toISOString() }),
    ...(isEmpty(values.requests_per_minute) ? {} : { requests_per_minute: Number(values.requests_per_minute) }),
    ...(limit === undefined ? {} : { monthly_limit_micros: limit }),
  };
};

const isEmpty = (text: string): boolean => text.trim() === '';
