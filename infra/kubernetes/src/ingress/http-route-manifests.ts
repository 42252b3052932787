import type { EntranceRule, EntranceService } from './entrance.ts';

/** Limits for a whole request: uploading 300 s, responding 600 s, plus time for admission. */
const REQUEST_TIMEOUT = { answers: '65s', streams: '960s' };
const MATCH_TYPES = { exact: 'Exact', prefix: 'PathPrefix', pattern: 'RegularExpression' } as const;
/** Limit of the Gateway API per rule. */
const MATCHES_MAX = 64;

/**
 * Renders one HTTPRoute per service. Gateways stream in both directions and leave body limits to the services (413 by
 * the contract). An incoming request id is removed: services trust it, and it identifies a reservation. Throws if a
 * service has more paths than a rule may match.
 */
export const httpRouteManifests = (services: readonly EntranceService[]): object[] =>
  services.map(({ name, rules, streams }) => {
    if (rules.length > MATCHES_MAX) throw new Error(`${name} has more than ${MATCHES_MAX} paths.`);
    const timeout = streams ? REQUEST_TIMEOUT.streams : REQUEST_TIMEOUT.answers;
    return {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name },
      spec: {
        parentRefs: [{ name: 'svc', sectionName: 'https' }],
        rules: [
          {
            matches: rules.map(toMatch),
            filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['X-Request-Id'] } }],
            timeouts: { request: timeout, backendRequest: timeout },
            backendRefs: [{ name, port: 3000 }],
          },
        ],
      },
    };
  });

const toMatch = ({ kind, path }: EntranceRule): object => ({ path: { type: MATCH_TYPES[kind], value: path } });
