import type { ManagementScope } from '@svc/contracts';
import type { Input } from '../api/index.ts';
import { checkText, fault } from '../ui/index.ts';

const EXPIRY_DAYS = { never: undefined, days30: 30, days90: 90, days365: 365 } as const;
const DAY_MS = 86_400_000;

/** Expiry of a new key: never, or after some days. */
export type ManagementKeyExpiry = keyof typeof EXPIRY_DAYS;
export const EXPIRIES: readonly ManagementKeyExpiry[] = ['never', 'days30', 'days90', 'days365'];

/** Access to an area. `write` includes `read`. */
export type Access = 'none' | 'read' | 'write';
export type Area = 'api_keys' | 'wallet' | 'usage' | 'apps' | 'webhooks';

/** The form of a new key, as typed. */
export interface ManagementKeyValues extends Readonly<Record<Area, Access>> {
  readonly name: string;
  readonly expires_at: ManagementKeyExpiry;
}

export const EMPTY_MANAGEMENT_KEY: ManagementKeyValues = {
  name: '',
  expires_at: 'never',
  api_keys: 'none',
  wallet: 'none',
  usage: 'none',
  apps: 'none',
  webhooks: 'none',
};

/** Scopes of each area, by access. Nothing changes wallet and usage by a key. */
export const SCOPES: Readonly<Record<Area, Partial<Record<Access, ManagementScope>>>> = {
  api_keys: { read: 'api_keys:read', write: 'api_keys:write' },
  wallet: { read: 'wallet:read' },
  usage: { read: 'usage:read' },
  apps: { read: 'apps:read', write: 'apps:write' },
  webhooks: { read: 'webhooks:read', write: 'webhooks:write' },
};

const AREAS: readonly Area[] = ['api_keys', 'wallet', 'usage', 'apps', 'webhooks'];

/** Returns the areas that an account has. Only a business has apps. */
export const areasFor = (isBusiness: boolean): readonly Area[] => (isBusiness ? AREAS : AREAS.slice(0, 3));

const scopesOf = (values: ManagementKeyValues): ManagementScope[] =>
  AREAS.flatMap((area) => SCOPES[area][values[area]] ?? []);

/** Returns the faults of a form; `noScopeFault` is the text for a key that may do nothing. */
export const checkManagementKey = (values: ManagementKeyValues, noScopeFault: string) => [
  ...checkText('name', values.name, { required: true, max: 80 }),
  ...(scopesOf(values).length === 0 ? [fault('scopes', noScopeFault)] : []),
];

/** Returns the request of a form. */
export const toManagementKey = (values: ManagementKeyValues, now: Date): Input<'createManagementKey'>['body'] => {
  const days = EXPIRY_DAYS[values.expires_at];
  return {
    name: values.name,
    scopes: scopesOf(values),
    expires_at: days === undefined ? null : new Date(now.getTime() + days * DAY_MS).toISOString(),
  };
};
