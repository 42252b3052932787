import { randomBytes } from 'node:crypto';
import { recordAct } from '@svc/database';
import { type Act, AppError, type Clock, invalidField } from '@svc/service-kit';
import { lockAccount } from '../accounts/index.ts';
import type { Transact } from '../transact.ts';
import { normalizeDomain } from './normalize-domain.ts';
import type { DomainRecord } from './publisher-domain.ts';
import { insertDomain, isVerifiedByOther, listDomainsOfUser } from './queries.ts';

export interface AddDomainDeps {
  readonly transact: Transact;
  readonly clock: Clock;
}

const TOKEN_BYTES = 16;
const DOMAINS_MAX = 5;

/**
 * Adds a domain with the token of its proof, or returns the existing one. Throws `domain_taken`,
 * `domain_limit_reached`, and 422 for an invalid host name.
 */
export const addDomain = async (
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
