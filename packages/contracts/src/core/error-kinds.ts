/** Kinds of error that operations throw, with the default HTTP status of each. */
export const errorKinds = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  limit: 429,
  unavailable: 503,
  internal: 500,
} as const;

export type ErrorKind = keyof typeof errorKinds;

/** Part of the product that returns a code. `internal` codes occur only on routes between services. */
export type ErrorOwner = 'any' | 'internal' | 'auth' | 'billing' | 'inference-gateway' | 'webhook-dispatcher';

export interface ErrorCodeDefinition {
  readonly owner: ErrorOwner;
  readonly kind: ErrorKind;
  readonly status: number;
  readonly description: string;
}

/** Defines an error code. */
export const code = (owner: ErrorOwner, kind: ErrorKind, status: number, description: string): ErrorCodeDefinition => ({
  owner,
  kind,
  status,
  description,
});
