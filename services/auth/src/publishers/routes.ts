import { routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { addDomain } from './add-domain.ts';
import { type CheckDomainDeps, checkDomain } from './check-domain.ts';
import { normalizeDomain } from './normalize-domain.ts';
import { toDomainJson } from './publisher-domain.ts';
import { deleteDomain, listDomainsOfUser } from './queries.ts';

export interface PublisherRoutesDeps extends CheckDomainDeps {
  readonly database: Executor;
}

/** Binds the routes of a business's domains. */
export const publisherRoutes = (deps: PublisherRoutesDeps): Binding[] => [
  bind(routes.listPublisherDomains, async ({ caller }) => {
    const domains = await listDomainsOfUser(deps.database, caller.userId);
    return { status: 200, body: { data: domains.map(toDomainJson) } };
  }),
  bind(routes.addPublisherDomain, async ({ body, caller }) => ({
    status: 201,
    body: toDomainJson(await addDomain(deps, { userId: caller.userId, text: body.domain })),
  })),
  bind(routes.checkPublisherDomain, async ({ params, caller }) => ({
    status: 200,
    body: toDomainJson(await checkDomain(deps, { userId: caller.userId, domain: toDomain(params.domain) })),
  })),
  bind(routes.deletePublisherDomain, async ({ params, caller }) => {
    const key = { userId: caller.userId, domain: toDomain(params.domain) };
    if (!(await deleteDomain(deps.database, key))) throw new AppError('not_found');
    return { status: 204 };
  }),
];

const toDomain = (text: string): string => {
  const domain = normalizeDomain(text);
  if (domain === undefined) throw new AppError('not_found');
  return domain;
};
