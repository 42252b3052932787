export { createProveDomain, type ProveDomain, resolveTxtByDns, withSandboxDomains } from './prove-domain.ts';
export { findVerifiedDomain } from './queries.ts';
export { publisherRoutes } from './routes.ts';
export { startDomainChecks } from './run-domain-checks.ts';
