import { randomBytes } from 'node:crypto';
import { routes } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError, type Binding, bind, type Clock, invalidField } from '@svc/service-kit';
import { lockAccount } from '../accounts/index.ts';
import type { Executor, Transact } from '../transact.ts';
import { type CheckDomainDeps, checkDomain } from './check-domain.ts';
import {
  type DomainRecord,
  deleteDomain,
  insertDomain,
  isVerifiedByOther,
  listDomainsOfUser,
  normalizeDomain,
  toDomainJson,
} from './publisher-domain.ts';

interface AddDomainDeps {
  readonly transact: Transact;
  readonly clock: Clock;
}

const TOKEN_BYTES = 16;
const DOMAINS_MAX = 5;

/**
 * Adds a domain with the token of its proof, or returns the existing one. Throws `domain_taken`,
 * `domain_limit_reached`, and 422 for an invalid host name.
 */
const addDomain = async (
  { transact, clock }: AddDomainDeps,
  { userId, text, act }: { userId: string; text: string; act: Act },
): Promise<DomainRecord> => {
  const domain = normalizeDomain(text);
  if (domain === undefined) {
    throw invalidField(['body', 'domain'], 'value_error', 'Value error, expected a host name such as example.com');
  }
  return await transact(async (trx) => {
    if ((await lockAccount(trx, userId)) === undefined) throw new AppError('invalid_token');
    const present = await listDomainsOfUser(trx, userId);
    const known = present.find((each) => each.domain === domain);
    if (known !== undefined) {
      act.changedNothing();
      return known;
    }
    if (await isVerifiedByOther(trx, { userId, domain })) throw new AppError('domain_taken');
    if (present.length >= DOMAINS_MAX) throw new AppError('domain_limit_reached');
    const added: DomainRecord = {
      userId,
      domain,
      token: randomBytes(TOKEN_BYTES).toString('hex'),
      status: 'pending',
      createdAt: clock(),
      verifiedAt: null,
      checkedAt: null,
      failingSince: null,
    };
    await insertDomain(trx, added);
    await recordAct(trx, act, { type: 'domain', id: null, name: domain });
    return added;
  });
};

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
