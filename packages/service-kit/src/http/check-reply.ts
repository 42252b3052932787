import type { ResponseDefinition, RouteDefinition } from '@svc/contracts';
import { AppError } from '../app-error.ts';
import type { Act } from './act.ts';
import type { ReplyContent } from './binding.ts';

/** A response that breaks its contract. The message names the offending fields, never their values. */
class BrokenReply extends Error {
  readonly code = 'reply_breaks_contract';

  constructor(route: RouteDefinition, violations: readonly string[]) {
    super(`the response of ${route.operationId} breaks its contract: ${violations.join('; ')}`);
    this.name = 'BrokenReply';
  }
}

/**
 * Checks the serialized response against the contract, and that the act of the request was recorded. Throws
 * `internal_error` caused by BrokenReply.
 */
export const checkReply = (route: RouteDefinition, reply: ReplyContent, act?: Act): void => {
  const violations = [...violationsOf(route, reply), ...unrecordedAct(reply, act)];
  if (violations.length > 0)
    throw new AppError('internal_error', undefined, { cause: new BrokenReply(route, violations) });
};

const unrecordedAct = ({ status }: ReplyContent, act: Act | undefined): string[] =>
  act !== undefined && !act.isRecorded && status < 400 ? [`${act.action} is not in the audit log`] : [];

const violationsOf = (route: RouteDefinition, reply: ReplyContent): string[] => {
  const response = route.responses[reply.status];
  if (response === undefined) return [`status ${reply.status} is not in it`];
  if (response.schema === undefined) return reply.body === undefined ? [] : [`status ${reply.status} has no body`];
  if (reply.contentType !== undefined && !reply.contentType.startsWith('application/json')) return [];
  if (reply.body === undefined) return [`status ${reply.status} has a body`];
  const wire: unknown = JSON.parse(JSON.stringify(reply.body));
  const result = jsonSchemaOf(response, response.schema).safeParse(wire);
  if (result.success) return [];
  return result.error.issues.map((issue) => `${issue.path.map(String).join('.') || '(root)'}: ${issue.code}`);
};

/** A status that usually returns a page may also have a JSON alternative. */
const jsonSchemaOf = <S>({ alternatives }: ResponseDefinition, schema: S) =>
  alternatives?.['application/json'] ?? schema;
