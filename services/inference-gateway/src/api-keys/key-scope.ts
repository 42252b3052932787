import type { ConsoleSessionCaller, ManagementKeyCaller } from '@svc/service-kit';

/** Keys that a caller may see and change. */
export interface KeyScope {
  /** Account of the keys. */
  readonly userId: string;
  /** Their creator, if the caller may only see own keys; undefined for all keys of the account. */
  readonly createdBy: string | undefined;
}

/** Returns the scope of a caller: a developer has only the keys that this person created. */
export const keyScopeOf = (caller: ConsoleSessionCaller | ManagementKeyCaller): KeyScope => {
  const isDeveloper = caller.kind === 'console_session' && caller.organization?.role === 'developer';
  return { userId: caller.userId, createdBy: isDeveloper ? caller.personId : undefined };
};

/** Returns true if a key is within a scope. */
export const isInScope = (
  { userId, createdBy }: KeyScope,
  key: { readonly userId: string; readonly createdBy: string },
): boolean => key.userId === userId && (createdBy === undefined || key.createdBy === createdBy);
