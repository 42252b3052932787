export type { ProveDomain } from './prove-domain.ts';
export { findVerifiedDomain } from './queries.ts';
export { publisherRoutes } from './routes.ts';
export { startDomainChecks } from './run-domain-checks.ts';
export { selectProveDomain } from './select-prove-domain.ts';
