import { invalidField } from '@svc/service-kit';

/** Parses the `expires_at` of a request. Throws the contract's 422 if it is not in the future. */
export const readExpiry = (value: string | null, nowMs: number): Date | null => {
  if (value === null) return null;
  const expiresAt = new Date(value);
  if (expiresAt.getTime() > nowMs) return expiresAt;
  throw invalidField(['body', 'expires_at'], 'value_error', 'Value error, must be in the future');
};
