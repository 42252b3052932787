import type { IncomingMessage } from 'node:http';
import type { RouteDefinition } from '@svc/contracts';
import type { LogFields } from '../logging/log-fields.ts';
import type { Caller } from './binding.ts';

/** Names the operator. Unverified: only the service credential is checked. */
export const OPERATOR_HEADER = 'x-svc-operator';
const OPERATOR_NAME = /^[\w.@+-]{1,64}$/;

/** Actor and target of an audited change. */
export type AuditFields = Pick<LogFields, 'actor' | 'target'>;

/**
 * Returns the audit fields of a change by a signed-in user, a management key or an operator; undefined for other requests. Contains ids
 * only, never request content.
 */
export const auditRequest = (
  route: RouteDefinition,
  caller: Caller,
  { req, params }: { readonly req: IncomingMessage; readonly params: Readonly<Record<string, unknown>> },
): AuditFields | undefined => {
  if (route.method === 'GET') return undefined;
  const actor = actorOf(route, caller, req);
  return actor === undefined ? undefined : { actor, target: Object.values(params).map(String) };
};

const actorOf = (route: RouteDefinition, caller: Caller, req: IncomingMessage): string | undefined => {
  if (caller.kind === 'console_session') {
    const { personId, userId } = caller;
    return personId === userId ? userId : `${userId} by ${personId}`;
  }
  if (caller.kind === 'management_key') return `${caller.userId} by ${caller.keyId}`;
  if (route.tag !== 'Operations') return undefined;
  const name = req.headers[OPERATOR_HEADER];
  return typeof name === 'string' && OPERATOR_NAME.test(name) ? `operator:${name}` : 'operator';
};
