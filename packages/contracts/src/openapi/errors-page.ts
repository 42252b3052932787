import {
  type ErrorCode,
  type ErrorCodeDefinition,
  type ErrorOwner,
  type ErrorShape,
  errorCodes,
  oauthErrorCode,
  wireErrorType,
} from '../core/index.ts';
import { allInternalRoutes, documentedRoutes } from '../routes.ts';
import { exampleId } from './example-values.ts';
import type { JsonSchema } from './schemas.ts';

const RESETS_AT = '2026-10-05T00:00:00.000Z';
const MANAGE_URL = `https://svc.example/connections#${exampleId('app')}`;
const FITTING = { available_micros: 1_200, needed_micros: 2_459, affordable_output_tokens: 1_958 };
const FIRST_REQUEST = { request_id: exampleId('req'), state: 'settled' };

/** Members beside code and message, by code. */
const MEMBERS: Partial<Record<ErrorCode, object>> = {
  app_budget_expired: { manage_url: MANAGE_URL },
  app_limit_exceeded: { resets_at: RESETS_AT, manage_url: MANAGE_URL },
  connection_paused: { manage_url: MANAGE_URL },
  duplicate_request: FIRST_REQUEST,
  monthly_limit_exceeded: { resets_at: RESETS_AT, extra: { reason: 'wallet' } },
  insufficient_balance: FITTING,
  key_monthly_limit_exceeded: FITTING,
  member_monthly_limit_exceeded: FITTING,
  subscription_inactive: { manage_url: 'https://svc.example/plans' },
  second_factor_required: { challenge: 'q8sV2Jt1mZ0xN4bY', factors: ['totp', 'recovery_code'] },
  weekly_limit_exceeded: { resets_at: RESETS_AT, extra: { reason: 'ceiling' } },
};

/** Collects the examples of errors that operations refer to. */
export interface ErrorExamples {
  /** Returns references to the examples of these codes, by code. */
  readonly add: (shape: ErrorShape, codes: readonly ErrorCode[]) => Readonly<Record<string, JsonSchema>>;
  readonly components: Record<string, JsonSchema>;
}

export const createErrorExamples = (): ErrorExamples => {
  const components: Record<string, JsonSchema> = {};
  const add: ErrorExamples['add'] = (shape, codes) =>
    Object.fromEntries(
      codes.map((code) => {
        const name = `${shape}.${code}`;
        components[name] ??= { summary: errorCodes[code].description, value: errorBodyExample(shape, code) };
        return [code, { $ref: `#/components/examples/${name}` }];
      }),
    );
  return { add, components };
};

/** Returns the body of an error in a shape. */
export const errorBodyExample = (shape: ErrorShape, code: ErrorCode): object => {
  const definition = errorCodes[code];
  const message = definition.description;
  switch (shape) {
    case 'detail':
      return { detail: { ...MEMBERS[code], code, message } };
    case 'oauth':
      return { error: oauthErrorCode(definition), error_description: message };
    case 'wire':
      return {
        error: {
          message,
          type: wireErrorType(definition.status),
          param: null,
          code,
          ...MEMBERS[code],
        },
      };
  }
};

const INTRODUCTION = `<!-- Generated from packages/contracts/src/core/error-codes.ts by \`npx pnpm generate\`; do not edit. -->

# Errors

Errors look like \`{"detail": {"code": "…", "message": "…"}}\`, with these exceptions: invalid input is a 422 whose \`detail\`
is a list of faults; the token and revocation endpoints answer \`error\` and \`error_description\` (RFC 6749 section 5.2); the
API-key gateway answers \`{"error": {"message", "type", "param", "code"}}\` with the same codes. Branch on the code, never on the message.

Each code has its status, its meaning, the operations that name it, and its body. 429 and 503 may have
\`Retry-After\`; \`X-Should-Retry: false\` says that a retry would not change the answer, or might be billed twice.
`;

const OWNERS: Readonly<Record<ErrorOwner, string>> = {
  any: 'Of any endpoint',
  auth: 'Accounts, apps and connections',
  billing: 'Plans, budgets and wallets',
  'inference-gateway': 'Inference',
  'webhook-dispatcher': 'Webhooks',
  internal: 'Between services',
};
const OPERATIONS_MAX = 4;

/** Renders the reference of all error codes as Markdown: a section for each, so that a link can lead to it. */
export const errorsPage = (): string => {
  const sections = Object.entries(OWNERS).map(([owner, title]) => {
    const codes = Object.entries<ErrorCodeDefinition>(errorCodes).filter(([, one]) => one.owner === owner);
    // The keys of errorCodes are its codes.
    const parts = codes.map(([code, definition]) => errorSection(code as ErrorCode, definition));
    return `## ${title}\n\n${parts.join('\n')}`;
  });
  return `${INTRODUCTION}\n${sections.join('\n')}`;
};

const errorSection = (code: ErrorCode, { status, description, owner }: ErrorCodeDefinition): string => {
  const routes = [...documentedRoutes, ...allInternalRoutes].filter((route) => route.errors.includes(code));
  // The introduction says how the other formats differ.
  const isWireOnly = routes.length > 0 && routes.every(({ errorShape }) => errorShape === 'wire');
  const example = JSON.stringify(errorBodyExample(isWireOnly ? 'wire' : 'detail', code));
  const named = owner === 'any' ? '' : ` Named by ${namedBy(routes.map(({ operationId }) => `\`${operationId}\``))}.`;
  return `### \`${code}\`\n\n**${status}**. ${description}${named}\n\n\`\`\`json\n${example}\n\`\`\`\n`;
};

const namedBy = (operations: readonly string[]): string => {
  if (operations.length === 0) return 'any internal endpoint';
  return operations.length > OPERATIONS_MAX ? `${operations.length} endpoints` : operations.join(', ');
};
