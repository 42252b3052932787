import { type ErrorCode, type ErrorCodeDefinition, type ErrorOwner, errorCodes } from '../core/index.ts';
import { allInternalRoutes, documentedRoutes } from '../routes.ts';
import { errorBodyExample } from './error-examples.ts';

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
