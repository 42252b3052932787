import { routes } from '@svc/contracts';
import { recordAct } from '@svc/database';
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
  bind(routes.addPublisherDomain, async ({ body, caller, act }) => ({
    status: 201,
    body: toDomainJson(await addDomain(deps, { userId: caller.userId, text: body.domain, act })),
  })),
  bind(routes.checkPublisherDomain, async ({ params, caller, act }) => ({
    status: 200,
    body: toDomainJson(await checkDomain(deps, { userId: caller.userId, domain: toDomain(params.domain) }, act)),
  })),
  bind(routes.deletePublisherDomain, async ({ params, caller, act }) => {
    const key = { userId: caller.userId, domain: toDomain(params.domain) };
    await deps.transact(async (trx) => {
      if (!(await deleteDomain(trx, key))) throw new AppError('not_found');
      await recordAct(trx, act, { type: 'domain', id: null, name: key.domain });
    });
    return { status: 204 };
  }),
];

const toDomain = (text: string): string => {
  const domain = normalizeDomain(text);
  if (domain === undefined) throw new AppError('not_found');
  return domain;
};
