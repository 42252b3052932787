import type { ActSource, AuditAction, RouteDefinition } from '@svc/contracts';
import type { Caller } from './binding.ts';

/**
 * An act that a route performs, which the audit log holds. The handler passes it to `recordAct` of `@svc/database`
 * within the transaction of the act. Where responses are validated, an answer without that is refused.
 */
export class Act {
  readonly action: AuditAction;
  /** Organization in whose log the act stands; null for that of a personal account, which has none. */
  readonly organizationId: string | null;
  /** Null for an operator. */
  readonly actorId: string | null;
  readonly source: ActSource;
  isRecorded = false;

  constructor(
    action: AuditAction,
    { organizationId, actorId, source }: Pick<Act, 'organizationId' | 'actorId' | 'source'>,
  ) {
    this.action = action;
    this.organizationId = organizationId;
    this.actorId = actorId;
    this.source = source;
  }

  /** Says that the request changed nothing, so that there is nothing to record. */
  changedNothing(): void {
    this.isRecorded = true;
  }
}

/** Returns the act of a request; undefined on a route that performs none. */
export const actOf = ({ audit }: RouteDefinition, caller: Caller): Act | undefined => {
  if (audit == null || (caller.kind !== 'console_session' && caller.kind !== 'management_key')) return undefined;
  const organization = caller.kind === 'console_session' ? caller.organization : null;
  const businessId = caller.accountType === 'business' ? caller.userId : null;
  return new Act(audit, {
    organizationId: organization?.id ?? businessId,
    actorId: caller.personId,
    source: caller.kind === 'console_session' ? 'console' : 'management_key',
  });
};
