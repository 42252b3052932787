export { startDomainChecks } from './check-domain.ts';
export { type ProveDomain, selectProveDomain } from './prove-domain.ts';
export { findVerifiedDomain } from './publisher-domain.ts';
export { publisherRoutes } from './routes.ts';
