import { type PublisherDomain, routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { type MockState, possessionsOf } from './state.ts';

/** A domain as added just now. */
export const newDomain = (domain: string, fields: Partial<PublisherDomain> = {}): PublisherDomain => ({
  domain,
  status: 'pending',
  txt_name: `_svc-verification.${domain}`,
  txt_value: 'svc-verification=0123456789abcdef0123456789abcdef',
  file_url: `https://${domain}/.well-known/svc-verification.txt`,
  file_content: 'svc-verification=0123456789abcdef0123456789abcdef',
  created_at: new Date().toISOString(),
  verified_at: null,
  checked_at: null,
  failing_since: null,
  ...fields,
});

/** Domains that another account has proven. */
const TAKEN_DOMAIN = 'taken.example';

/** Domains of a business. The second check of a domain finds its proof. */
export const publisherBindings = (state: MockState): Binding[] => {
  const requireDomain = (userId: string, domain: string): PublisherDomain => {
    const found = possessionsOf(state, userId).domains.find((item) => item.domain === domain);
    if (found === undefined) throw new AppError('not_found');
    return found;
  };
  return [
    bind(routes.listPublisherDomains, async ({ caller }) => ({
      status: 200,
      body: { data: possessionsOf(state, caller.userId).domains },
    })),
    bind(routes.addPublisherDomain, async ({ body, caller }) => {
      if (body.domain === TAKEN_DOMAIN) throw new AppError('domain_taken');
      const added = newDomain(body.domain.toLowerCase());
      possessionsOf(state, caller.userId).domains.push(added);
      return { status: 201, body: added };
    }),
    bind(routes.checkPublisherDomain, async ({ params, caller }) => {
      const domain = requireDomain(caller.userId, params.domain);
      const now = new Date().toISOString();
      if (domain.checked_at === null) {
        domain.checked_at = now;
        throw new AppError('domain_not_proven', undefined, { details: { dns: 'different', file: 'unreachable' } });
      }
      Object.assign(domain, { status: 'verified', verified_at: now, checked_at: now, failing_since: null });
      return { status: 200, body: domain };
    }),
    bind(routes.deletePublisherDomain, async ({ params, caller }) => {
      const owned = possessionsOf(state, caller.userId);
      const domain = requireDomain(caller.userId, params.domain);
      owned.domains = owned.domains.filter((item) => item !== domain);
      return { status: 204 };
    }),
    bind(routes.reportApp, async ({ params, body, caller }) => {
      possessionsOf(state, caller.userId).reports.push({ clientId: params.client_id, ...body });
      return { status: 202 };
    }),
  ];
};
