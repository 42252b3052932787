import { invalidField } from '@svc/service-kit';

/** Reads the `expires_at` of a request. Throws the 422 of the contract for a time that has passed. */
export const readExpiry = (value: string | null, nowMs: number): Date | null => {
  if (value === null) return null;
  const expiresAt = new Date(value);
  if (expiresAt.getTime() > nowMs) return expiresAt;
  throw invalidField(['body', 'expires_at'], 'value_error', 'Value error, must be in the future');
};
