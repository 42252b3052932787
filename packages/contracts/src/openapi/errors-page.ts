import { type ErrorCode, type ErrorCodeDefinition, errorCodes } from '../core/index.ts';
import { allInternalRoutes, allRoutes } from '../routes.ts';

const INTRODUCTION = `<!-- Generated from packages/contracts/src/core/error-codes.ts by \`npx pnpm generate\`; do not edit. -->

# Errors

Errors look like \`{"detail": {"code": "…", "message": "…"}}\`, with these exceptions: invalid input is a 422 whose \`detail\`
is a list of faults; the token and revocation endpoints answer \`error\` and \`error_description\` (RFC 6749 section 5.2); the
API-key gateway answers \`{"error": {"message", "type", "param", "code"}}\`. Branch on the code, never on the message.
`;

/** Renders the reference of all error codes as Markdown. */
export const errorsPage = (): string => {
  const rows = Object.entries<ErrorCodeDefinition>(errorCodes).map(
    ([code, definition]) =>
      `| \`${code}\` | ${definition.status} | ${definition.owner} | ${definition.description} | ${usedBy(code, definition)} |`,
  );
  const table = ['| Code | Status | Owner | Meaning | Named by |', '| --- | --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
  return `${INTRODUCTION}\n${table}\n`;
};

const usedBy = (code: string, { owner }: ErrorCodeDefinition): string => {
  if (owner === 'internal') return 'any internal endpoint';
  // The keys of errorCodes are its codes.
  const operations = [...allRoutes, ...allInternalRoutes].filter((route) => route.errors.includes(code as ErrorCode));
  if (operations.length === 0) return 'any endpoint';
  if (operations.length > 4) return `${operations.length} endpoints`;
  return operations.map((route) => `\`${route.operationId}\``).join(', ');
};
